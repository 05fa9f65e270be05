package dev.mcpbridge.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Resolves {@code ${env:NAME}} and {@code ${file:path}} in the operator's own file, and keeps the
 * values for digests. Not thread-safe.
 */
final class Placeholders {
  private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([A-Za-z]+):([^}]*)}");

  private final Map<String, String> environment;
  private final List<String> values = new ArrayList<>();

  /**
   * @param environment null for text received over the network, which is left unchanged, since it
   *     must not be able to read files
   */
  Placeholders(Map<String, String> environment) {
    this.environment = environment;
  }

  /** Whether the text was received over the network. */
  boolean areLiteral() {
    return environment == null;
  }

  /** The placeholders that have been resolved so far, each with its value. */
  List<String> values() {
    return values;
  }

  /**
   * @throws IllegalArgumentException if a placeholder has no value; the message names it
   */
  String resolve(String text) {
    return environment == null || !text.contains("${")
        ? text
        : PLACEHOLDER.matcher(text).replaceAll(match -> Matcher.quoteReplacement(value(match)));
  }

  private String value(MatchResult placeholder) {
    String value =
        switch (placeholder.group(1)) {
          case "env" -> variable(placeholder.group(2));
          case "file" -> file(placeholder.group(2));
          case "input" ->
              throw new IllegalArgumentException(
                  placeholder.group()
                      + " needs user input, which the bridge cannot request: use ${env:NAME}");
          default -> foreign(placeholder);
        };
    values.add(placeholder.group() + "=" + value);
    return value;
  }

  /** Placeholders of other programs are left unchanged; one that resembles ours is an error. */
  private static String foreign(MatchResult placeholder) {
    SpellingSuggestion.to(placeholder.group(1), List.of("env", "file"))
        .ifPresent(
            similar -> {
              throw new IllegalArgumentException(
                  "unknown placeholder %s, did you mean ${%s:%s}?"
                      .formatted(placeholder.group(), similar, placeholder.group(2)));
            });
    return placeholder.group();
  }

  private String variable(String name) {
    String value = environment.get(name);
    if (value == null) {
      throw new IllegalArgumentException("the environment variable " + name + " is not set");
    }
    return value;
  }

  private static String file(String path) {
    try {
      return Files.readString(Path.of(path)).stripTrailing();
    } catch (IOException | RuntimeException e) {
      throw new IllegalArgumentException("the file " + path + " cannot be read");
    }
  }
}
