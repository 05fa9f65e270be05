package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Takes one level of a value apart, leaving what is inside as bytes. For paths that are not hot.
 */
public final class JsonObjects {
  private static final int DEPTH = 1000;

  private JsonObjects() {}

  /** The members of an object by name, of several with one name the last; none of anything else. */
  public static Map<String, JsonSlice> members(JsonSlice object) {
    Map<String, JsonSlice> members = new LinkedHashMap<>();
    return collect(object, members) < 0 ? new LinkedHashMap<>() : members;
  }

  /** The members of an object by name; null where it has one twice, or is none. */
  public static Map<String, JsonSlice> distinctMembers(JsonSlice object) {
    Map<String, JsonSlice> members = new LinkedHashMap<>();
    return collect(object, members) == members.size() ? members : null;
  }

  /** An object of these members. */
  public static JsonSlice object(Map<String, JsonSlice> members) {
    JsonWriter out = new JsonWriter(1024).beginObject();
    members.forEach(out::member);
    return out.endObject().toSlice();
  }

  /** The object with one member replaced where it stood, or added at its end. */
  public static JsonSlice with(JsonSlice object, String name, JsonSlice value) {
    Map<String, JsonSlice> members = members(object);
    members.put(name, value);
    return object(members);
  }

  /** The object with another value in a member's place, and every other byte as it was. */
  public static JsonSlice inPlace(JsonSlice object, JsonSlice value, JsonSlice other) {
    byte[] out = new byte[object.length() - value.length() + other.length()];
    int head = value.from() - object.from();
    System.arraycopy(object.bytes(), object.from(), out, 0, head);
    System.arraycopy(other.bytes(), other.from(), out, head, other.length());
    int tail = head + other.length();
    System.arraycopy(object.bytes(), value.to(), out, tail, out.length - tail);
    return new JsonSlice(out, 0, out.length);
  }

  /** The object without one member. */
  public static JsonSlice without(JsonSlice object, String name) {
    Map<String, JsonSlice> members = members(object);
    members.remove(name);
    return object(members);
  }

  /**
   * How many members there are, each name counted as often as it stands there; −1 for no object.
   */
  private static int collect(JsonSlice object, Map<String, JsonSlice> members) {
    byte[] text = object.bytes();
    int[] count = new int[1];
    try {
      JsonScanner.transit(DEPTH)
          .object(
              text,
              object.from(),
              object.to(),
              (nameFrom, nameTo, from, to) -> {
                members.put(name(text, nameFrom, nameTo), new JsonSlice(text, from, to));
                count[0]++;
              });
      return count[0];
    } catch (JsonSyntaxException e) {
      return -1;
    }
  }

  /** A JSON string for a text. */
  public static JsonSlice quoted(String text) {
    return new JsonWriter(text.length() + 16).value(text).toSlice();
  }

  /** Names may be written with escapes, and mean the same. */
  private static String name(byte[] text, int from, int to) {
    String name = new String(text, from, to - from, StandardCharsets.UTF_8);
    return name.indexOf('\\') < 0 ? name : string(new JsonSlice(text, from - 1, to + 1));
  }

  /** The elements of an array; none where it is no array. */
  public static List<JsonSlice> elements(JsonSlice array) {
    List<JsonSlice> elements = new ArrayList<>();
    try {
      JsonScanner.transit(DEPTH)
          .array(
              array.bytes(),
              array.from(),
              array.to(),
              (from, to) -> elements.add(new JsonSlice(array.bytes(), from, to)));
      return elements;
    } catch (JsonSyntaxException e) {
      return List.of();
    }
  }

  private static boolean hasEscape(JsonSlice value) {
    for (int i = value.from(); i < value.to(); i++) {
      if (value.bytes()[i] == '\\') {
        return true;
      }
    }
    return false;
  }

  /** The text of a JSON string; null where the value is none. */
  public static String string(JsonSlice value) {
    if (value == null || value.length() < 2 || value.bytes()[value.from()] != '"') {
      return null;
    }
    return hasEscape(value)
        ? JsonEscapes.read(value.bytes(), value.from() + 1, value.to() - 1)
        : new String(value.bytes(), value.from() + 1, value.length() - 2, StandardCharsets.UTF_8);
  }
}
