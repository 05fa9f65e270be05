package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which keys of a changed configuration have no effect before the bridge is started again: all but
 * those of one list. Stateless.
 */
public final class RestartKeys {

  /** What a reload applies; a key stands for everything below it. */
  static final Set<String> APPLIED =
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
   * @param running with which the bridge was started
   * @param next what it is to run with
   * @return the keys that differ and are not applied, in alphabetical order
   * @throws ConfigException where one of them is no JSON object
   */
  public static List<String> changed(String running, String next) {
    List<String> changed = new ArrayList<>();
    compare("", ConfigReader.parse(running), ConfigReader.parse(next), changed);
    return changed;
  }

  private static void compare(String path, JsonNode running, JsonNode next, List<String> changed) {
    if (APPLIED.contains(path) || running.equals(next)) {
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
      if (!path.isEmpty() || ConfigReader.SECTIONS.contains(key)) {
        compare(
            path.isEmpty() ? key : path + "." + key,
            member(running, key),
            member(next, key),
            changed);
      }
    }
  }

  /** A section that is not there is one without keys. */
  private static boolean isSection(JsonNode node) {
    return node.isObject() || node.isMissingNode();
  }

  /** The reader takes null for a key that is not there. */
  private static JsonNode member(JsonNode section, String key) {
    return section.hasNonNull(key) ? section.get(key) : MissingNode.getInstance();
  }
}
