package dev.mcpbridge.protocol;

import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Whether the {@code x-mcp-header} annotations of a schema follow the rules (2026-07-28
 * basic/transports/streamable-http): a token, unique whatever its case, on a string, integer or
 * boolean that is reached through properties alone. A tool whose annotations do not must not be
 * used over HTTP.
 */
final class HeaderAnnotations {
  private static final String ANNOTATION = "x-mcp-header";
  private static final Set<String> TYPES = Set.of("string", "integer", "boolean");

  private final Set<String> names = new HashSet<>();
  private boolean valid = true;

  private HeaderAnnotations() {}

  static boolean areValid(JsonSlice schema) {
    if (schema == null || !schema.text().contains(ANNOTATION)) {
      return true;
    }
    HeaderAnnotations annotations = new HeaderAnnotations();
    annotations.walk(schema, true, true);
    return annotations.valid;
  }

  /**
   * @param reachable through properties alone
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
            && name.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")
            && type != null
            && TYPES.contains(type)
            && names.add(name.toLowerCase(Locale.ROOT));
  }
}
