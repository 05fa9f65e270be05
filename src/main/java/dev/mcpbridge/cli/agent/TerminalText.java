package dev.mcpbridge.cli.agent;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.jline.utils.AttributedString;

/**
 * Texts of models, tools and users as a terminal may get them. A text from elsewhere could hold
 * sequences that move the cursor, rewrite what stands there already, or turn the reading direction:
 * they are shown, and do nothing. Stateless.
 */
final class TerminalText {
  private TerminalText() {}

  /** Line breaks and tabs stay. */
  static String plain(String text) {
    if (text.codePoints().noneMatch(TerminalText::isUnseen)) {
      return text;
    }
    return text.codePoints()
        .mapToObj(c -> isUnseen(c) ? String.format("\\u%04x", c) : Character.toString(c))
        .collect(Collectors.joining());
  }

  private static boolean isUnseen(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL -> c != '\n' && c != '\t';
      case Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
      default -> false;
    };
  }

  /** One line where it fits, else indented; every character of it. */
  static String json(JsonNode json, int width) {
    String line = json.toString();
    return plain(line.length() <= width ? line : pretty(json));
  }

  /**
   * The same, or the text as it is where it is no JSON; no more than so many lines, none longer
   * than the width.
   */
  static List<String> cut(String text, int width, int lines) {
    String whole = jsonOr(text, width);
    List<String> all = whole.lines().toList();
    List<String> shown =
        all.stream().limit(lines).map(line -> cut(line, width)).collect(Collectors.toList());
    if (all.size() > lines) {
      shown.add("… " + (all.size() - lines) + " more lines");
    }
    return shown;
  }

  private static String cut(String line, int width) {
    String tabless = line.replace("\t", "  ");
    AttributedString whole = new AttributedString(tabless);
    return whole.columnLength() <= width
        ? tabless
        : whole.columnSubSequence(0, Math.max(1, width - 1)) + "…";
  }

  private static String jsonOr(String text, int width) {
    String start = text.stripLeading();
    if (start.startsWith("{") || start.startsWith("[")) {
      try {
        return json(Json.exactTree(text), width);
      } catch (IOException e) {
        // a text that only begins like JSON
      }
    }
    return plain(text);
  }

  private static String pretty(JsonNode json) {
    try {
      return Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(json);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree always serialises", e);
    }
  }
}
