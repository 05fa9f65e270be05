package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds the changed keys that take effect only after a restart: all except those that a reload
 * applies. Stateless.
 */
public final class RestartKeys {

  /** Keys that a reload applies, each including everything below it. */
  static final Set<String> RELOADABLE =
      Set.of(
          "$schema",
          "auth",
          "drain",
          "http.allowStart",
          "http.allowedCommands",
          "http.bodyTimeout",
          "http.cors.origins",
          "http.headTimeout",
          "http.hosts",
          "http.idleTimeout",
          "http.insecure",
          "http.maxConnections",
          "http.maxStreams",
          "mcpServers",
          "risk",
          "sandbox.allowedImages",
          "sandbox.allowedMounts",
          "sandbox.allowedNetworks",
          "sandbox.limits",
          "servers");

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
    compare("", ConfigReader.parse(running), ConfigReader.parse(next), changed);
    return changed;
  }

  private static void compare(String path, JsonNode running, JsonNode next, List<String> changed) {
    if (RELOADABLE.contains(path) || running.equals(next)) {
      return;
    }
    if (!isSection(running) || !isSection(next)) {
      changed.add(path);
      return;
    }
    Set<String> keys = new TreeSet<>();
    running.fieldNames().forEachRemaining(keys::add);
    next.fieldNames().forEachRemaining(keys::add);
    for (String key : keys) {
      if (!path.isEmpty() || ConfigSchema.root().path("properties").has(key)) {
        compare(
            path.isEmpty() ? key : path + "." + key,
            member(running, key),
            member(next, key),
            changed);
      }
    }
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
