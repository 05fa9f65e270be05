package dev.mcpbridge.cli.registry;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The values of what a registry leaves to its users (its schema calls them inputs): given by the
 * operator, defaults, or for secrets a reference to the environment of the bridge. Texts of the
 * registry are refused if they could be a reference themselves: that would let it read secrets and
 * files.
 */
final class Inputs {
  private static final Pattern VARIABLE = Pattern.compile("\\{([A-Za-z0-9_.-]+)}");
  private static final Pattern PLACEHOLDER = Pattern.compile("\\{[A-Za-z]+:");
  private static final String OWN = "MCP_BRIDGE_";

  private final Map<String, List<String>> given;
  private final Set<String> known = new LinkedHashSet<>();
  private final Map<String, String> missing = new LinkedHashMap<>();
  private final Set<String> environment = new LinkedHashSet<>();

  /**
   * @param given values of the operator, by the name of the input
   */
  Inputs(Map<String, List<String>> given) {
    this.given = given;
  }

  /**
   * A text of the registry that goes into the configuration. No dollar sign may come from there:
   * with it, parts of texts could become a placeholder together.
   *
   * @throws BridgeException INVALID_SERVER if it could be part of a placeholder, or is not plain
   */
  static String plain(String text) {
    if (text.contains("$")
        || PLACEHOLDER.matcher(text).find()
        || text.chars().anyMatch(Character::isISOControl)) {
      throw new BridgeException(
          ErrorCode.INVALID_SERVER,
          "The registry's text is refused, because the configuration would replace parts of it or"
              + " hide them: "
              + RegistryServer.line(text));
    }
    return text;
  }

  /** The values of an input; empty if it is left out. Several if it may be repeated. */
  List<String> values(String name, JsonNode input) {
    known.add(name);
    if (input.path("value").isTextual()) {
      return List.of(substituted(input.path("value").textValue(), input.path("variables")));
    }
    List<String> own = given.getOrDefault(name, List.of());
    if (!own.isEmpty()) {
      requireAllowed(name, own, input);
      return own;
    }
    if (input.path("default").isValueNode() && !input.path("default").isNull()) {
      return List.of(plain(input.path("default").asText()));
    }
    if (input.path("isSecret").asBoolean()) {
      return List.of(reference(name));
    }
    if (input.path("isRequired").asBoolean()) {
      missing.put(name, shown(input.path("description").asText("")));
    }
    return List.of();
  }

  /** Replaces the variables of a text; what is not a variable is unchanged. */
  String substituted(String text, JsonNode variables) {
    return VARIABLE
        .matcher(plain(text))
        .replaceAll(found -> Matcher.quoteReplacement(value(found, variables)));
  }

  private String value(MatchResult found, JsonNode variables) {
    JsonNode variable = variables.path(found.group(1));
    return variable.isObject() ? String.join("", values(found.group(1), variable)) : found.group();
  }

  private void requireAllowed(String name, List<String> values, JsonNode input) {
    List<String> choices = new ArrayList<>();
    input.path("choices").forEach(choice -> choices.add(choice.asText()));
    boolean mayRepeat = input.path("isRepeated").asBoolean();
    if (!choices.isEmpty() && !choices.containsAll(values)) {
      throw new BridgeException(
          ErrorCode.INVALID_SERVER, shown(name) + " must be one of " + shown(choices));
    }
    if (values.size() > 1 && !mayRepeat) {
      throw new BridgeException(ErrorCode.INVALID_SERVER, shown(name) + " can have one value only");
    }
  }

  /** Names and choices are the registry's, too. */
  private static String shown(String text) {
    return RegistryServer.line(text);
  }

  private static String shown(Collection<String> texts) {
    return texts.stream().map(Inputs::shown).collect(Collectors.joining(", "));
  }

  private String reference(String name) {
    String variable = name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]+", "_");
    if (variable.startsWith(OWN)) {
      throw new BridgeException(
          ErrorCode.INVALID_SERVER, "The registry asks for the bridge's own variable " + variable);
    }
    environment.add(variable);
    return "${env:" + variable + "}";
  }

  /** The variables of the environment that the entry refers to. */
  Set<String> environment() {
    return environment;
  }

  /**
   * Requires that everything needed has a value, and that no value is given for something unknown.
   *
   * @throws BridgeException INVALID_SERVER
   */
  void requireComplete() {
    if (!missing.isEmpty()) {
      StringBuilder text = new StringBuilder("The server needs values:");
      missing.forEach(
          (name, description) ->
              text.append(System.lineSeparator())
                  .append("  --set ")
                  .append(shown(name))
                  .append("=…  ")
                  .append(description));
      throw new BridgeException(ErrorCode.INVALID_SERVER, text.toString());
    }
    given.keySet().stream()
        .filter(name -> !known.contains(name))
        .findFirst()
        .ifPresent(
            name -> {
              throw new BridgeException(
                  ErrorCode.INVALID_SERVER,
                  "The server has no input '" + name + "'; it has " + shown(known));
            });
  }
}
