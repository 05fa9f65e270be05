package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Appends JSON to a growing byte array, so that an envelope can be written around existing bytes
 * without encoding them again. It inserts commas; the caller has to balance brackets. Not
 * thread-safe.
 */
public final class JsonWriter {
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  private byte[] bytes;
  private int size;
  private int lineStart;

  public JsonWriter(int capacity) {
    bytes = new byte[Math.max(32, capacity)];
  }

  public JsonWriter() {
    this(256);
  }

  public JsonWriter beginObject() {
    separate();
    return put('{');
  }

  public JsonWriter endObject() {
    return put('}');
  }

  public JsonWriter beginArray() {
    separate();
    return put('[');
  }

  public JsonWriter endArray() {
    return put(']');
  }

  public JsonWriter name(String name) {
    separate();
    quote(name);
    return put(':');
  }

  public JsonWriter value(String text) {
    separate();
    if (text == null) {
      return ascii("null");
    }
    quote(text);
    return this;
  }

  public JsonWriter value(long number) {
    separate();
    return ascii(Long.toString(number));
  }

  public JsonWriter value(boolean truth) {
    separate();
    return ascii(truth ? "true" : "false");
  }

  public JsonWriter value(JsonSlice json) {
    separate();
    return put(json.bytes(), json.from(), json.to());
  }

  public JsonWriter member(String name, String text) {
    return name(name).value(text);
  }

  /** A text cut to a bounded length; if it is longer, a member NAME_length has its length. */
  public JsonWriter bounded(String name, String text, int maxLength) {
    if (text.length() <= maxLength) {
      return member(name, text);
    }
    return member(name, text.substring(0, maxLength)).member(name + "_length", text.length());
  }

  /** A text of a prefix and bytes as hexadecimal digits. */
  public JsonWriter hex(String name, String prefix, byte[] data) {
    name(name).put('"').ascii(prefix).ensureCapacity(2 * data.length + 1);
    byte[] target = bytes;
    int at = size;
    for (byte b : data) {
      target[at++] = HEX[b >> 4 & 0xF];
      target[at++] = HEX[b & 0xF];
    }
    size = at;
    return put('"');
  }

  public JsonWriter member(String name, long number) {
    return name(name).value(number);
  }

  public JsonWriter member(String name, boolean truth) {
    return name(name).value(truth);
  }

  public JsonWriter member(String name, JsonSlice json) {
    return name(name).value(json);
  }

  /** Copies the members of an object into the open object; writes nothing for an empty one. */
  public JsonWriter membersOf(JsonSlice object) {
    int from = object.from() + 1;
    int to = object.to() - 1;
    while (from < to && object.bytes()[from] <= ' ') {
      from++;
    }
    return members(new JsonSlice(object.bytes(), from, Math.max(from, to)));
  }

  /** Copies members that are separated by commas; writes nothing for none. */
  public JsonWriter members(JsonSlice members) {
    return members.length() == 0 ? this : value(members);
  }

  public byte[] toBytes() {
    return size == bytes.length ? bytes : Arrays.copyOf(bytes, size);
  }

  /** The JSON as one line, newline included. */
  public byte[] toLine() {
    return endLine().toBytes();
  }

  /** Ends a line; the next value is not separated by a comma. */
  public JsonWriter endLine() {
    put('\n');
    lineStart = size;
    return this;
  }

  /**
   * Begins anew.
   *
   * @param maxKept a larger array is not kept
   */
  public void clear(int maxKept) {
    if (bytes.length > maxKept) {
      bytes = new byte[maxKept];
    }
    size = 0;
    lineStart = 0;
  }

  /** How many bytes are written. */
  public int size() {
    return size;
  }

  /** What was written after the first bytes; valid until more is written. */
  public JsonSlice from(int start) {
    return new JsonSlice(bytes, start, size);
  }

  public JsonSlice toSlice() {
    return from(0);
  }

  private void separate() {
    if (size > lineStart) {
      byte last = bytes[size - 1];
      if (last != '{' && last != '[' && last != ':') {
        put(',');
      }
    }
  }

  private JsonWriter put(int b) {
    ensureCapacity(1);
    bytes[size++] = (byte) b;
    return this;
  }

  private JsonWriter put(byte[] source, int from, int to) {
    ensureCapacity(to - from);
    System.arraycopy(source, from, bytes, size, to - from);
    size += to - from;
    return this;
  }

  @SuppressWarnings("deprecation") // the only method that copies ASCII without an encoder
  private JsonWriter ascii(String text) {
    ensureCapacity(text.length());
    text.getBytes(0, text.length(), bytes, size);
    size += text.length();
    return this;
  }

  private void quote(String text) {
    put('"');
    ensureCapacity(text.length() + 1);
    int plain = plain(text);
    if (plain < text.length()) {
      escape(text, plain);
    }
    put('"');
  }

  private void escape(String text, int from) {
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        put('\\').put(c);
      } else if (c == '\n') {
        put('\\').put('n');
      } else if (c < 0x20) {
        unicode(c);
      } else if (c < 0x80) {
        put(c);
      } else if (!Character.isSurrogate(c)) {
        utf8(c);
      } else if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        utf8(text.codePointAt(i++));
      } else {
        unicode(c);
      }
    }
  }

  /** Copies what needs no escape, which is most often the whole text; returns its length. */
  private int plain(String text) {
    byte[] target = bytes;
    int start = size;
    int length = text.length();
    int i = 0;
    while (i < length) {
      char c = text.charAt(i);
      if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') {
        break;
      }
      target[start + i++] = (byte) c;
    }
    size = start + i;
    return i;
  }

  private void utf8(int codePoint) {
    byte[] encoded = Character.toString(codePoint).getBytes(StandardCharsets.UTF_8);
    put(encoded, 0, encoded.length);
  }

  private void unicode(char c) {
    put('\\').put('u');
    for (int shift = 12; shift >= 0; shift -= 4) {
      put(HEX[c >> shift & 0xF]);
    }
  }

  private void ensureCapacity(int more) {
    if (size + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(size + more, bytes.length * 2));
    }
  }
}
