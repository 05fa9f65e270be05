package dev.mcpbridge.cli.registry;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The values of what a registry leaves to its users (its schema calls them inputs): given by the
 * operator, defaults, or for secrets a reference to the environment of the bridge. Texts of the
 * registry are refused if they could be a reference themselves: that would let it read secrets and
 * files.
 */
final class Inputs {
  private static final Pattern VARIABLE = Pattern.compile("\\{([A-Za-z0-9_.-]+)}");

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
   * A text of the registry that goes into the configuration.
   *
   * @throws BridgeException INVALID_SERVER if it could be a placeholder, or is not plain
   */
  static String plain(String text) {
    if (text.contains("${") || text.chars().anyMatch(Character::isISOControl)) {
      throw new BridgeException(
          ErrorCode.INVALID_SERVER,
          "The registry's text is refused, because the configuration would replace parts of it or"
              + " hide them: "
              + text);
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
      missing.put(name, input.path("description").asText(""));
    }
    return List.of();
  }

  /**
   * Replaces the variables of a text; what is not a variable is unchanged. The parts that come from
   * the registry are checked together: a reference could be put together from them.
   */
  String substituted(String text, JsonNode variables) {
    String result = VARIABLE.matcher(text).replaceAll(found -> quoted(found, variables, true));
    plain(VARIABLE.matcher(text).replaceAll(found -> quoted(found, variables, false)));
    return result;
  }

  /**
   * @param isWhole whether values that are not the registry's are included
   */
  private String quoted(MatchResult found, JsonNode variables, boolean isWhole) {
    String name = found.group(1);
    JsonNode variable = variables.path(name);
    String value = found.group();
    if (variable.isObject()) {
      boolean isIncluded = isWhole || !isOwn(name, variable);
      value = isIncluded ? String.join("", values(name, variable)) : "own";
    }
    return Matcher.quoteReplacement(value);
  }

  /** Whether the value of an input is not the registry's. */
  private boolean isOwn(String name, JsonNode input) {
    boolean hasDefault = input.path("default").isValueNode() && !input.path("default").isNull();
    return !input.path("value").isTextual() && (given.containsKey(name) || !hasDefault);
  }

  private void requireAllowed(String name, List<String> values, JsonNode input) {
    List<String> choices = new ArrayList<>();
    input.path("choices").forEach(choice -> choices.add(choice.asText()));
    boolean mayRepeat = input.path("isRepeated").asBoolean();
    if (!choices.isEmpty() && !choices.containsAll(values)) {
      throw new BridgeException(
          ErrorCode.INVALID_SERVER, name + " must be one of " + String.join(", ", choices));
    }
    if (values.size() > 1 && !mayRepeat) {
      throw new BridgeException(ErrorCode.INVALID_SERVER, name + " can have one value only");
    }
  }

  private String reference(String name) {
    String variable = name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]+", "_");
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
                  .append(name)
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
                  "The server has no input '" + name + "'; it has " + String.join(", ", known));
            });
  }
}
