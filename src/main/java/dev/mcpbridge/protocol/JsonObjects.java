package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Splits one level of a value and leaves nested values as bytes. Not for hot paths. */
public final class JsonObjects {
  private static final int DEPTH = 1000;

  private JsonObjects() {}

  /** The members of an object by name, the last of duplicates; empty if it is not an object. */
  public static Map<String, JsonSlice> members(JsonSlice object) {
    Map<String, JsonSlice> members = new LinkedHashMap<>();
    return collect(object, members) < 0 ? new LinkedHashMap<>() : members;
  }

  /** The members of an object by name; null if a name is duplicate or it is not an object. */
  public static Map<String, JsonSlice> distinctMembers(JsonSlice object) {
    Map<String, JsonSlice> members = new LinkedHashMap<>();
    return collect(object, members) == members.size() ? members : null;
  }

  /** Builds an object. */
  public static JsonSlice object(Map<String, JsonSlice> members) {
    JsonWriter out = new JsonWriter(1024).beginObject();
    members.forEach(out::member);
    return out.endObject().toSlice();
  }

  /** A copy with one member replaced at its position, or appended. */
  public static JsonSlice with(JsonSlice object, String name, JsonSlice value) {
    Map<String, JsonSlice> members = members(object);
    members.put(name, value);
    return object(members);
  }

  /** A copy with one value replaced and every other byte unchanged. */
  public static JsonSlice replaceValue(JsonSlice object, JsonSlice value, JsonSlice replacement) {
    byte[] out = new byte[object.length() - value.length() + replacement.length()];
    int head = value.from() - object.from();
    System.arraycopy(object.bytes(), object.from(), out, 0, head);
    System.arraycopy(replacement.bytes(), replacement.from(), out, head, replacement.length());
    int tail = head + replacement.length();
    System.arraycopy(object.bytes(), value.to(), out, tail, out.length - tail);
    return new JsonSlice(out, 0, out.length);
  }

  /** A copy without one member. */
  public static JsonSlice without(JsonSlice object, String name) {
    Map<String, JsonSlice> members = members(object);
    members.remove(name);
    return object(members);
  }

  /** Returns the number of members, duplicates included; −1 if it is not an object. */
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

  /** Encodes a text as a JSON string. */
  public static JsonSlice quoted(String text) {
    return new JsonWriter(text.length() + 16).value(text).toSlice();
  }

  /** Decodes a name, which may contain escapes. */
  private static String name(byte[] text, int from, int to) {
    String name = new String(text, from, to - from, StandardCharsets.UTF_8);
    return name.indexOf('\\') < 0 ? name : string(new JsonSlice(text, from - 1, to + 1));
  }

  /** The elements of an array; empty if it is not an array. */
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

  /** Decodes a JSON string; null if the value is not a valid string. */
  public static String string(JsonSlice value) {
    if (value == null || value.length() < 2 || value.bytes()[value.from()] != '"') {
      return null;
    }
    return hasEscape(value)
        ? JsonEscapes.read(value.bytes(), value.from() + 1, value.to() - 1)
        : new String(value.bytes(), value.from() + 1, value.length() - 2, StandardCharsets.UTF_8);
  }
}
