package dev.mcpbridge.protocol;

import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Validates the {@code x-mcp-header} annotations of a schema (2026-07-28
 * basic/transports/streamable-http): the name is a token, unique regardless of case, on a string,
 * integer or boolean that is reached through {@code properties} only. A tool with invalid
 * annotations must not be used over HTTP.
 */
public final class HeaderAnnotations {
  private static final String ANNOTATION = "x-mcp-header";
  private static final int MAX_DEPTH = 10;
  private static final Set<String> TYPES = Set.of("string", "integer", "boolean");

  private final Set<String> names = new HashSet<>();
  private boolean valid = true;

  private HeaderAnnotations() {}

  /** Receives the name of a header and the argument it mirrors, null if the argument is absent. */
  @FunctionalInterface
  public interface Visitor {
    void visit(String header, JsonSlice argument);
  }

  /** Visits the headers that a schema declares, with the arguments they mirror. */
  public static void visit(JsonSlice schema, JsonSlice arguments, Visitor visitor) {
    visit(schema, arguments, visitor, MAX_DEPTH);
  }

  private static void visit(JsonSlice schema, JsonSlice arguments, Visitor visitor, int depth) {
    JsonSlice properties = member(schema, "properties");
    if (properties == null || arguments == null || !arguments.isObject() || depth == 0) {
      return;
    }
    Map<String, JsonSlice> values = JsonObjects.members(arguments);
    JsonObjects.members(properties)
        .forEach(
            (name, property) -> {
              JsonSlice value = values.get(name);
              JsonSlice present = JsonSlice.NULL.equals(value) ? null : value;
              String header = JsonObjects.string(member(property, ANNOTATION));
              if (header != null) {
                visitor.visit("mcp-param-" + header, present);
              }
              visit(property, present, visitor, depth - 1);
            });
  }

  private static JsonSlice member(JsonSlice object, String name) {
    return object != null && object.isObject() ? JsonObjects.members(object).get(name) : null;
  }

  /** Whether the name of a header is a token (RFC 9110 section 5.6.2). */
  public static boolean isFieldName(String name) {
    return name.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
  }

  static boolean areValid(JsonSlice schema) {
    if (schema == null || !schema.text().contains(ANNOTATION)) {
      return true;
    }
    HeaderAnnotations annotations = new HeaderAnnotations();
    annotations.walk(schema, true, true);
    return annotations.valid;
  }

  /**
   * @param reachable whether the value was reached through {@code properties} only
   */
  private void walk(JsonSlice value, boolean isRoot, boolean reachable) {
    if (value.isArray()) {
      JsonObjects.elements(value).forEach(element -> walk(element, false, false));
    } else if (value.isObject()) {
      Map<String, JsonSlice> members = JsonObjects.members(value);
      if (members.containsKey(ANNOTATION)) {
        check(members, !isRoot && reachable);
      }
      members.forEach((name, member) -> descend(name, member, reachable));
    }
  }

  private void descend(String name, JsonSlice member, boolean reachable) {
    if (reachable && name.equals("properties") && member.isObject()) {
      JsonObjects.members(member).values().forEach(property -> walk(property, false, true));
    } else if (!name.equals("default") && !name.equals("const") && !name.equals("enum")) {
      walk(member, false, false);
    }
  }

  private void check(Map<String, JsonSlice> property, boolean reachable) {
    String name = JsonObjects.string(property.get(ANNOTATION));
    String type = JsonObjects.string(property.get("type"));
    valid =
        valid
            && reachable
            && name != null
            && isFieldName(name)
            && type != null
            && TYPES.contains(type)
            && names.add(name.toLowerCase(Locale.ROOT));
  }
}
