package dev.mcpbridge.cli.agent;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Cuts Markdown that is still coming into pieces that can be shown for themselves. Confined. */
final class Blocks {
  /** It may be within an entry of a list. */
  private static final Pattern FENCE =
      Pattern.compile("([ \\t]*)((?:[-*+]|\\d{1,9}[.)])[ \\t]+)*(```+(?=[^`]*$)|~~~+)(.*)");

  /** Goes on with a list, or may still turn out to. */
  private static final Pattern GOING_ON =
      Pattern.compile("|\\s.*|\\d{1,9}([.)](\\s.*)?)?", Pattern.DOTALL);

  private final StringBuilder waiting = new StringBuilder();
  private int lineStart;

  /** Where a block ends unless what comes next goes on with it; 0 for nowhere. */
  private int maybeEnd;

  private String fence;
  private int fenceIndent;

  /** Takes what came; all blocks that are over by that, if any are. */
  Optional<String> take(String more) {
    waiting.append(more);
    int end = 0;
    for (int at = waiting.indexOf("\n", lineStart);
        at >= 0;
        at = waiting.indexOf("\n", lineStart)) {
      String line = waiting.substring(lineStart, at);
      end = Math.max(end, endBefore(line));
      lineStart = at + 1;
      if (endsWith(line)) {
        maybeEnd = lineStart;
      } else if (!line.isBlank()) {
        maybeEnd = 0;
      }
    }
    end = Math.max(end, endBefore(waiting.substring(lineStart)));
    if (end == 0) {
      return Optional.empty();
    }
    String over = waiting.substring(0, end);
    waiting.delete(0, end);
    lineStart -= end;
    maybeEnd = Math.max(0, maybeEnd - end);
    return over.isBlank() ? Optional.empty() : Optional.of(over);
  }

  private int endBefore(String line) {
    return GOING_ON.matcher(line).matches() ? 0 : maybeEnd;
  }

  /** Whether a block may be over with this line. */
  private boolean endsWith(String line) {
    Matcher found = FENCE.matcher(line);
    if (fence == null && found.matches()) {
      fence = found.group(3);
      fenceIndent = found.start(3);
      return false;
    }
    if (fence == null) {
      return line.isBlank();
    }
    boolean isClosed =
        found.matches()
            && found.group(2) == null
            && found.group(3).startsWith(fence)
            && found.group(4).isBlank()
            && found.group(1).length() <= fenceIndent + 3;
    if (isClosed) {
      fence = null;
    }
    return isClosed;
  }

  /** What is left at the end. */
  Optional<String> rest() {
    String rest = waiting.toString();
    waiting.setLength(0);
    lineStart = 0;
    maybeEnd = 0;
    fence = null;
    return rest.isBlank() ? Optional.empty() : Optional.of(rest);
  }
}
