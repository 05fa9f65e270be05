package dev.mcpbridge.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.function.BiConsumer;

/**
 * Writes what nodes say to each other: numbers as base-128 varints, texts and bytes with their
 * length in front. Fields have no names: a newer version adds its own at the end of a message or of
 * a {@link #part}, where an older reader does not look. Not thread-safe.
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
    room(1);
    bytes[size++] = (byte) value;
    return this;
  }

  /** Small positive numbers take one byte, negative ones ten. */
  public WireWriter number(long value) {
    room(10);
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      bytes[size++] = (byte) (rest & 0x7F | 0x80);
      rest >>>= 7;
    }
    bytes[size++] = (byte) rest;
    return this;
  }

  public WireWriter bytes(byte[] source, int from, int to) {
    number(to - from);
    room(to - from);
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

  /** A value that may be missing. */
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

  /** Something that may grow fields of its own. */
  public <T> WireWriter part(T value, BiConsumer<WireWriter, T> write) {
    WireWriter part = new WireWriter();
    write.accept(part, value);
    return bytes(part.bytes, 0, part.size);
  }

  public byte[] toBytes() {
    return Arrays.copyOf(bytes, size);
  }

  private void room(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }
}
