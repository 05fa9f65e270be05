package dev.mcpbridge.wire;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * Reads what {@link WireWriter} wrote, and believes nothing: every length is checked against what
 * is there. Not thread-safe.
 */
public final class WireReader {
  private final byte[] bytes;
  private final int end;
  private int at;

  /** What arrived is not what nodes say. */
  public static final class WireException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WireException(String what, int at) {
      super(what + " at byte " + at, null, false, false);
    }
  }

  public WireReader(byte[] bytes) {
    this(bytes, 0, bytes.length);
  }

  public WireReader(byte[] bytes, int from, int to) {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
  }

  /** Whether nothing follows: what an older version would have left out is missing. */
  public boolean isAtEnd() {
    return at == end;
  }

  public boolean flag() {
    return octet() != 0;
  }

  public int octet() {
    if (at >= end) {
      throw new WireException("the message ends", at);
    }
    return bytes[at++] & 0xFF;
  }

  public long number() {
    long value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      int octet = octet();
      value |= (long) (octet & 0x7F) << shift;
      if (octet < 0x80) {
        return value;
      }
    }
    throw new WireException("a number without end", at);
  }

  /** A number of things that are still to come, so never more than bytes are left. */
  public int count() {
    long count = number();
    if (count < 0 || count > end - at) {
      throw new WireException("a length of " + count, at);
    }
    return (int) count;
  }

  public byte[] bytes() {
    int length = count();
    at += length;
    return Arrays.copyOfRange(bytes, at - length, at);
  }

  public String text() {
    int length = count();
    at += length;
    return new String(bytes, at - length, length, StandardCharsets.UTF_8);
  }

  public <T> T optional(Function<WireReader, T> read) {
    return flag() ? read.apply(this) : null;
  }

  public <T> List<T> list(Function<WireReader, T> read) {
    int size = count();
    List<T> values = new ArrayList<>(Math.min(size, 1024));
    for (int i = 0; i < size; i++) {
      values.add(read.apply(this));
    }
    return values;
  }

  /** Something with its own end; what this version does not know of it is passed over. */
  public <T> T part(Function<WireReader, T> read) {
    int length = count();
    WireReader part = new WireReader(bytes, at, at + length);
    at += length;
    return read.apply(part);
  }
}
