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

  /** The members of an object by name; of several with one name the last counts. */
  public static Map<String, JsonSlice> members(JsonSlice object) {
    Map<String, JsonSlice> members = new LinkedHashMap<>();
    byte[] text = object.bytes();
    try {
      JsonScanner.transit(DEPTH)
          .object(
              text,
              object.from(),
              object.to(),
              (nameFrom, nameTo, from, to) ->
                  members.put(
                      new String(text, nameFrom, nameTo - nameFrom, StandardCharsets.UTF_8),
                      new JsonSlice(text, from, to)));
      return members;
    } catch (JsonSyntaxException e) {
      return Map.of();
    }
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

  /** The text of a JSON string; null where the value is none. */
  public static String string(JsonSlice value) {
    if (value == null || value.length() < 2 || value.bytes()[value.from()] != '"') {
      return null;
    }
    try {
      return Json.tree(value).textValue();
    } catch (java.io.IOException e) {
      return null;
    }
  }
}
