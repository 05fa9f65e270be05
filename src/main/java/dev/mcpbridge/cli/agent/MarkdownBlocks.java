package dev.mcpbridge.cli.agent;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Splits streamed Markdown into blocks that can be rendered separately. Not thread-safe. */
final class MarkdownBlocks {
  /** A code fence, possibly within a list item. */
  private static final Pattern FENCE =
      Pattern.compile("([ \\t]*)((?:[-*+]|\\d{1,9}[.)])[ \\t]+)*(```+(?=[^`]*$)|~~~+)(.*)");

  /** A line that continues a list, or the start of one that may. */
  private static final Pattern CONTINUATION =
      Pattern.compile("|\\s.*|\\d{1,9}([.)](\\s.*)?)?", Pattern.DOTALL);

  private final StringBuilder buffer = new StringBuilder();
  private int lineStart;

  /** End of a block unless the next line continues it; 0 for none. */
  private int possibleEnd;

  private String fence;
  private int fenceIndent;

  /** Appends text. Returns all blocks that are complete now; empty if none is. */
  Optional<String> append(String text) {
    buffer.append(text);
    int end = 0;
    for (int at = buffer.indexOf("\n", lineStart); at >= 0; at = buffer.indexOf("\n", lineStart)) {
      String line = buffer.substring(lineStart, at);
      end = Math.max(end, endBefore(line));
      lineStart = at + 1;
      if (mayEndWith(line)) {
        possibleEnd = lineStart;
      } else if (!line.isBlank()) {
        possibleEnd = 0;
      }
    }
    end = Math.max(end, endBefore(buffer.substring(lineStart)));
    if (end == 0) {
      return Optional.empty();
    }
    String complete = buffer.substring(0, end);
    buffer.delete(0, end);
    lineStart -= end;
    possibleEnd = Math.max(0, possibleEnd - end);
    return complete.isBlank() ? Optional.empty() : Optional.of(complete);
  }

  private int endBefore(String line) {
    return CONTINUATION.matcher(line).matches() ? 0 : possibleEnd;
  }

  /** Whether a block may end with this line. */
  private boolean mayEndWith(String line) {
    Matcher matcher = FENCE.matcher(line);
    if (fence == null && matcher.matches()) {
      fence = matcher.group(3);
      fenceIndent = matcher.start(3);
      return false;
    }
    if (fence == null) {
      return line.isBlank();
    }
    boolean isClosed =
        matcher.matches()
            && matcher.group(2) == null
            && matcher.group(3).startsWith(fence)
            && matcher.group(4).isBlank()
            && matcher.group(1).length() <= fenceIndent + 3;
    if (isClosed) {
      fence = null;
    }
    return isClosed;
  }

  /** Returns the remaining text and resets the state. Empty if there is only white space. */
  Optional<String> flush() {
    String rest = buffer.toString();
    buffer.setLength(0);
    lineStart = 0;
    possibleEnd = 0;
    fence = null;
    return rest.isBlank() ? Optional.empty() : Optional.of(rest);
  }
}
