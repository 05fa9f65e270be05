package dev.mcpbridge.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Resolves {@code ${env:NAME}} and {@code ${file:path}} in the operator's own file. Text received
 * over the network is left unchanged, since it must not be able to read files.
 */
interface Placeholders {
  List<String> KINDS = List.of("env", "file");
  Placeholders LITERAL = text -> text;

  /**
   * @throws IllegalArgumentException if a placeholder has no value; the message names it
   */
  String resolve(String text);

  static Placeholders of(Map<String, String> environment) {
    Pattern pattern = Pattern.compile("\\$\\{([A-Za-z]+):([^}]*)}");
    return text -> {
      if (!text.contains("${")) {
        return text;
      }
      Matcher matcher = pattern.matcher(text);
      return matcher.replaceAll(
          match ->
              Matcher.quoteReplacement(
                  switch (match.group(1)) {
                    case "env" -> variable(environment, match.group(2));
                    case "file" -> file(match.group(2));
                    case "input" -> throw needsInput(match.group());
                    default -> foreign(match);
                  }));
    };
  }

  /** Placeholders of other programs are left unchanged; one that resembles ours is an error. */
  private static String foreign(MatchResult match) {
    SpellingSuggestion.to(match.group(1), KINDS)
        .ifPresent(
            similar -> {
              throw new IllegalArgumentException(
                  "unknown placeholder "
                      + match.group()
                      + ", did you mean ${"
                      + similar
                      + ":"
                      + match.group(2)
                      + "}?");
            });
    return match.group();
  }

  private static IllegalArgumentException needsInput(String placeholder) {
    return new IllegalArgumentException(
        placeholder + " needs user input, which the bridge cannot request: use ${env:NAME}");
  }

  private static String variable(Map<String, String> environment, String name) {
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
