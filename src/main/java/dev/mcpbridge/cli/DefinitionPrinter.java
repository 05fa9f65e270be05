package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.HiddenCharacters;
import java.util.stream.Collectors;

/** Prints definitions and what differs from the approved ones, with hidden characters escaped. */
final class DefinitionPrinter {
  private DefinitionPrinter() {}

  /** A name and a state, with everything hidden in it made visible. */
  static String title(JsonNode definition) {
    String name = definition.path("name").asText();
    return oneLine(
        definition.path("kind").asText()
            + (name.isEmpty() ? "" : " " + name)
            + ": "
            + definition.path("state").asText()
            + (definition.path("held").asBoolean() ? ", held" : ""));
  }

  /** A text that cannot look like more lines, or overwrite one. */
  static String oneLine(String text) {
    StringBuilder out = new StringBuilder();
    HiddenCharacters.visible(text)
        .codePoints()
        .forEach(
            c -> {
              boolean isBreak = c < 0x20 || c == 0x85 || c == 0x2028 || c == 0x2029;
              out.append(isBreak ? "\\u{%X}".formatted(c) : Character.toString(c));
            });
    return out.toString();
  }

  static void print(JsonNode definition) {
    System.out.println(title(definition));
    JsonNode approved = definition.path("approved");
    if (approved.isObject()) {
      System.out.printf(
          "  approved %s by %s at %s%n",
          approved.path("digest").asText(),
          oneLine(approved.path("by").asText()),
          approved.path("at").asText());
    }
    System.out.println("  now      " + definition.path("digest").asText());
    if (!definition.path("findings").isEmpty()) {
      System.out.println(
          definition
              .path("findings")
              .valueStream()
              .map(JsonNode::asText)
              .collect(Collectors.joining(", ", "  found    ", "")));
    }
    for (JsonNode difference : definition.path("differences")) {
      System.out.println("  " + oneLine(difference.path("at").asText()));
      printLines("    - ", difference.path("before"));
      printLines("    + ", difference.path("after"));
    }
    if (definition.path("more").asBoolean()) {
      System.out.println("  … and more differences");
    }
  }

  /** With a prefix at each line, so that a text cannot look like the output of this command. */
  private static void printLines(String prefix, JsonNode text) {
    if (text.isTextual()) {
      for (String line : HiddenCharacters.visible(text.asText()).split("\\R", -1)) {
        System.out.println(prefix + line);
      }
    }
  }
}
