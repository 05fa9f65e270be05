package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the changed keys that take effect only after a restart: all except those that the schema
 * marks with {@code reload}, each including everything below it. Stateless.
 */
public final class RestartKeys {
  private RestartKeys() {}

  /**
   * Compares two texts of the configuration.
   *
   * @param running the text with which the bridge was started
   * @param next the new text
   * @return the keys that differ and need a restart, in alphabetical order
   * @throws ConfigException if one of them is not a JSON object
   */
  public static List<String> changed(String running, String next) {
    List<String> changed = new ArrayList<>();
    compare(
        "", ConfigSchema.root(), ConfigReader.parse(running), ConfigReader.parse(next), changed);
    return changed.stream().sorted().toList();
  }

  private static void compare(
      String path, JsonNode schema, JsonNode running, JsonNode next, List<String> changed) {
    if (schema.path("reload").asBoolean() || running.equals(next)) {
      return;
    }
    if (!isSection(running) || !isSection(next)) {
      changed.add(path);
      return;
    }
    schema
        .path("properties")
        .properties()
        .forEach(
            key ->
                compare(
                    path.isEmpty() ? key.getKey() : path + "." + key.getKey(),
                    key.getValue(),
                    member(running, key.getKey()),
                    member(next, key.getKey()),
                    changed));
  }

  /** A missing section is equal to one without keys. */
  private static boolean isSection(JsonNode node) {
    return node.isObject() || node.isMissingNode();
  }

  /** A null value is a missing key, as for the reader. */
  private static JsonNode member(JsonNode section, String key) {
    return section.hasNonNull(key) ? section.get(key) : MissingNode.getInstance();
  }
}
