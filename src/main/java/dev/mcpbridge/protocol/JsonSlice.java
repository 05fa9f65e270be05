package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One JSON value as received: {@code bytes[from, to)}, UTF-8, already validated by {@link
 * JsonScanner}. The array is shared and must not be modified.
 */
public record JsonSlice(byte[] bytes, int from, int to) {

  public static final JsonSlice EMPTY_OBJECT = of("{}");
  public static final JsonSlice NULL = of("null");

  public JsonSlice {
    if (from < 0 || to < from || to > bytes.length) {
      throw new IllegalArgumentException("slice " + from + ".." + to + " of " + bytes.length);
    }
  }

  public static JsonSlice of(String json) {
    return of(json.getBytes(StandardCharsets.UTF_8));
  }

  public static JsonSlice of(byte[] json) {
    return new JsonSlice(json, 0, json.length);
  }

  public int length() {
    return to - from;
  }

  public boolean isObject() {
    return to > from && bytes[from] == '{';
  }

  public boolean isArray() {
    return to > from && bytes[from] == '[';
  }

  /** Whether the bytes occur anywhere in the value, be it in a name or a string. */
  public boolean mentions(byte[] part) {
    for (int i = from; i <= to - part.length; i++) {
      if (bytes[i] == part[0] && Arrays.equals(bytes, i, i + part.length, part, 0, part.length)) {
        return true;
      }
    }
    return false;
  }

  public byte[] toBytes() {
    return Arrays.copyOfRange(bytes, from, to);
  }

  /** The JSON text; a string is not decoded. */
  public String text() {
    return new String(bytes, from, to - from, StandardCharsets.UTF_8);
  }

  /** Copies the value to its own array, so that it does not retain the message it is part of. */
  public JsonSlice detached() {
    return from == 0 && to == bytes.length ? this : of(toBytes());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof JsonSlice that
        && Arrays.equals(bytes, from, to, that.bytes, that.from, that.to);
  }

  @Override
  public int hashCode() {
    int hash = 1;
    for (int i = from; i < to; i++) {
      hash = 31 * hash + bytes[i];
    }
    return hash;
  }

  @Override
  public String toString() {
    return "JsonSlice[" + length() + " bytes]";
  }
}
