package dev.mcpbridge.wire;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * Reads what {@link WireWriter} wrote. The input is untrusted: every length is checked against the
 * available bytes. Not thread-safe.
 */
public final class WireReader {
  private final byte[] bytes;
  private final int end;
  private int position;

  /** The message is malformed. */
  public static final class WireException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WireException(String problem, int position) {
      super(problem + " at byte " + position, null, false, false);
    }
  }

  public WireReader(byte[] bytes) {
    this(bytes, 0, bytes.length);
  }

  public WireReader(byte[] bytes, int from, int to) {
    this.bytes = bytes;
    this.position = from;
    this.end = to;
  }

  /** Whether the end is reached. Fields that an older version does not write are missing then. */
  public boolean isAtEnd() {
    return position == end;
  }

  public boolean flag() {
    return octet() != 0;
  }

  public int octet() {
    if (position >= end) {
      throw new WireException("unexpected end of the message", position);
    }
    return bytes[position++] & 0xFF;
  }

  /** One of these values, by its index. */
  public <T> T choice(T[] values) {
    int index = octet();
    if (index >= values.length) {
      throw new WireException("an unknown value " + index, position);
    }
    return values[index];
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
    throw new WireException("a number that is too long", position);
  }

  /** A number of items that follow; never more than the remaining bytes. */
  public int count() {
    long count = number();
    if (count < 0 || count > end - position) {
      throw new WireException("an invalid length of " + count, position);
    }
    return (int) count;
  }

  public byte[] bytes() {
    int length = count();
    position += length;
    return Arrays.copyOfRange(bytes, position - length, position);
  }

  public String text() {
    int length = count();
    position += length;
    return new String(bytes, position - length, length, StandardCharsets.UTF_8);
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

  /** A length-prefixed part. Fields at its end that this version does not know are skipped. */
  public <T> T part(Function<WireReader, T> read) {
    int length = count();
    WireReader part = new WireReader(bytes, position, position + length);
    position += length;
    return read.apply(part);
  }
}
