package dev.mcpbridge.adapter.grpc;

import com.google.protobuf.CodedInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Reads single fields of messages whose type is not compiled into the bridge. Stateless. */
final class WireFields {
  private static final int LENGTH_DELIMITED = 2;

  private WireFields() {}

  /**
   * The values of a field that has text, bytes or messages.
   *
   * @throws IllegalArgumentException if the message is not valid
   */
  static List<byte[]> of(byte[] message, int field) {
    List<byte[]> values = new ArrayList<>();
    CodedInputStream in = CodedInputStream.newInstance(message);
    try {
      for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
        if (tag == (field << 3 | LENGTH_DELIMITED)) {
          values.add(in.readByteArray());
        } else {
          in.skipField(tag);
        }
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("not a valid message", e);
    }
    return values;
  }

  /**
   * The last value of a field that has a number; 0 without one.
   *
   * @throws IllegalArgumentException if the message is not valid
   */
  static long number(byte[] message, int field) {
    long value = 0;
    CodedInputStream in = CodedInputStream.newInstance(message);
    try {
      for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
        if (tag == field << 3) {
          value = in.readInt64();
        } else {
          in.skipField(tag);
        }
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("not a valid message", e);
    }
    return value;
  }
}
