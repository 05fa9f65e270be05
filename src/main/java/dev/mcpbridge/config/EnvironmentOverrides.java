package dev.mcpbridge.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Applies the variables {@code MCP_SERVER_<NAME>_COMMAND}, {@code _ARGS}, {@code _ENV}, {@code
 * _RISK_LEVEL} and {@code _DOCKER_CONFIG} of the original bridge. Unlike there, overriding a
 * command keeps the entry's risk.
 */
final class EnvironmentOverrides {
  private static final String PREFIX = "MCP_SERVER_";
  private static final Pattern VARIABLE =
      Pattern.compile(PREFIX + "(.+)_(COMMAND|ARGS|ENV|RISK_LEVEL|DOCKER_CONFIG)");

  private final Map<String, String> environment;
  private final List<ConfigProblem> problems;

  EnvironmentOverrides(Map<String, String> environment, List<ConfigProblem> problems) {
    this.environment = environment;
    this.problems = problems;
  }

  /** Changes the entries in place. */
  void apply(ObjectNode servers) {
    for (String name : names()) {
      ObjectNode entry = entry(servers, name);
      if (environment.containsKey(PREFIX + name + "_COMMAND")) {
        entry.put("command", environment.get(PREFIX + name + "_COMMAND"));
        entry.remove(List.of("builtin", "url", "type", "args", "env"));
      }
      String args = environment.get(PREFIX + name + "_ARGS");
      if (args != null) {
        ArrayNode list = entry.putArray("args");
        List.of(args.split(",")).forEach(list::add);
      }
      set(entry, "env", name, "_ENV");
      set(entry, "riskLevel", name, "_RISK_LEVEL");
      set(entry, "docker", name, "_DOCKER_CONFIG");
    }
  }

  private Set<String> names() {
    return environment.keySet().stream()
        .map(VARIABLE::matcher)
        .filter(Matcher::matches)
        .map(variable -> variable.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static ObjectNode entry(ObjectNode servers, String name) {
    for (Map.Entry<String, JsonNode> entry : servers.properties()) {
      if (entry.getKey().replace('-', '_').equalsIgnoreCase(name)
          && entry.getValue() instanceof ObjectNode node) {
        return node;
      }
    }
    return servers.putObject(name.toLowerCase(Locale.ROOT));
  }

  private void set(ObjectNode entry, String key, String name, String suffix) {
    String json = environment.get(PREFIX + name + suffix);
    if (json == null || json.isBlank()) {
      return;
    }
    try {
      entry.set(key, Json.tree(json));
    } catch (JsonProcessingException e) {
      problems.add(new ConfigProblem(PREFIX + name + suffix, "expected JSON"));
    }
  }
}
