package dev.mcpbridge.cli.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.jline.utils.AttributedString;

/**
 * Makes texts of models, tools and users safe for a terminal. Sequences that move the cursor,
 * overwrite the screen or change the reading direction are shown as escapes. Stateless.
 */
final class TerminalText {
  private TerminalText() {}

  /** Escapes invisible characters except line breaks and tabs. */
  static String escape(String text) {
    if (text.codePoints().noneMatch(TerminalText::isInvisible)) {
      return text;
    }
    return text.codePoints()
        .mapToObj(c -> isInvisible(c) ? String.format("\\u%04x", c) : Character.toString(c))
        .collect(Collectors.joining());
  }

  private static boolean isInvisible(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL -> c != '\n' && c != '\t';
      case Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
      default -> false;
    };
  }

  /** Formats JSON completely: as one line if it fits, else indented. */
  static String json(JsonNode json, int width) {
    String line = json.toString();
    return escape(line.length() <= width ? line : json.toPrettyString());
  }

  /**
   * Formats a text, as JSON if it is valid JSON, and cuts it to a maximum number of lines and a
   * maximum width.
   */
  static List<String> truncate(String text, int width, int lines) {
    String whole = jsonOr(text, width);
    List<String> all = whole.lines().toList();
    List<String> shown =
        all.stream().limit(lines).map(line -> truncate(line, width)).collect(Collectors.toList());
    if (all.size() > lines) {
      shown.add("… " + (all.size() - lines) + " more lines");
    }
    return shown;
  }

  private static String truncate(String line, int width) {
    String untabbed = line.replace("\t", "  ");
    AttributedString whole = new AttributedString(untabbed);
    return whole.columnLength() <= width
        ? untabbed
        : whole.columnSubSequence(0, Math.max(1, width - 1)) + "…";
  }

  private static String jsonOr(String text, int width) {
    String start = text.stripLeading();
    if (start.startsWith("{") || start.startsWith("[")) {
      try {
        return json(Json.exactTree(text), width);
      } catch (IOException e) {
        // not JSON after all
      }
    }
    return escape(text);
  }
}
