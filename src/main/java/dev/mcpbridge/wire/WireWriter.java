package dev.mcpbridge.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.function.BiConsumer;

/**
 * Writes messages between nodes: numbers as base-128 varints, texts and bytes with a length prefix.
 * Fields have no names: a newer version appends fields to a message or to a {@link #part}, and
 * older readers ignore them. Not thread-safe.
 */
public final class WireWriter {
  private byte[] bytes;
  private int size;

  public WireWriter() {
    this(256);
  }

  public WireWriter(int capacity) {
    this.bytes = new byte[capacity];
  }

  public WireWriter flag(boolean value) {
    return octet(value ? 1 : 0);
  }

  public WireWriter octet(int value) {
    ensureCapacity(1);
    bytes[size++] = (byte) value;
    return this;
  }

  /** Small positive numbers take one byte, negative ones ten. */
  public WireWriter number(long value) {
    ensureCapacity(10);
    long remaining = value;
    while ((remaining & ~0x7FL) != 0) {
      bytes[size++] = (byte) (remaining & 0x7F | 0x80);
      remaining >>>= 7;
    }
    bytes[size++] = (byte) remaining;
    return this;
  }

  public WireWriter bytes(byte[] source, int from, int to) {
    number(to - from);
    ensureCapacity(to - from);
    System.arraycopy(source, from, bytes, size, to - from);
    size += to - from;
    return this;
  }

  public WireWriter bytes(byte[] source) {
    return bytes(source, 0, source.length);
  }

  public WireWriter text(String text) {
    return bytes(text.getBytes(StandardCharsets.UTF_8));
  }

  /** A value that may be null. */
  public <T> WireWriter optional(T value, BiConsumer<WireWriter, T> write) {
    flag(value != null);
    if (value != null) {
      write.accept(this, value);
    }
    return this;
  }

  public <T> WireWriter list(Collection<T> values, BiConsumer<WireWriter, T> write) {
    number(values.size());
    values.forEach(value -> write.accept(this, value));
    return this;
  }

  /** A length-prefixed part, to which later versions may append fields. */
  public <T> WireWriter part(T value, BiConsumer<WireWriter, T> write) {
    WireWriter part = new WireWriter();
    write.accept(part, value);
    return bytes(part.bytes, 0, part.size);
  }

  public byte[] toBytes() {
    return Arrays.copyOf(bytes, size);
  }

  private void ensureCapacity(int additional) {
    if (bytes.length - size < additional) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + additional));
    }
  }
}
