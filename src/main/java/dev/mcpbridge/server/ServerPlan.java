package dev.mcpbridge.server;

import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.model.ServerId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a new configuration means for the servers that run: removes first, then replacements, then
 * additions. A server whose entry says the same as before is in none of the lists.
 */
record ServerPlan(
    List<ServerId> removals, List<ServerConfig> replacements, List<ServerConfig> additions) {

  /**
   * @param before what runs from the configuration now
   * @param after what should
   */
  static ServerPlan of(Map<ServerId, ServerConfig> before, Map<ServerId, ServerConfig> after) {
    List<ServerConfig> replacements = new ArrayList<>();
    List<ServerConfig> additions = new ArrayList<>();
    after.forEach(
        (id, config) -> {
          ServerConfig old = before.get(id);
          if (old == null) {
            additions.add(config);
          } else if (!old.fingerprint().equals(config.fingerprint())) {
            replacements.add(config);
          }
        });
    List<ServerId> removals =
        before.keySet().stream().filter(id -> !after.containsKey(id)).toList();
    return new ServerPlan(removals, List.copyOf(replacements), List.copyOf(additions));
  }

  boolean isEmpty() {
    return removals.isEmpty() && replacements.isEmpty() && additions.isEmpty();
  }

  @Override
  public String toString() {
    return "removed " + removals + ", replaced " + ids(replacements) + ", added " + ids(additions);
  }

  private static List<ServerId> ids(List<ServerConfig> configs) {
    return configs.stream().map(ServerConfig::id).toList();
  }
}
