package dev.mcpbridge.cli.agent;

import java.util.Optional;
import java.util.regex.Pattern;

/** Cuts Markdown that is still coming into pieces that can be shown for themselves. Confined. */
final class Blocks {
  private static final Pattern FENCE = Pattern.compile(" {0,3}(```+|~~~+).*");

  private final StringBuilder waiting = new StringBuilder();

  /** Takes what came; all blocks that are over by that, if any are. */
  Optional<String> take(String more) {
    waiting.append(more);
    int end = 0;
    boolean inFence = false;
    int lineStart = 0;
    for (int at = waiting.indexOf("\n"); at >= 0; at = waiting.indexOf("\n", at + 1)) {
      String line = waiting.substring(lineStart, at);
      boolean isFence = FENCE.matcher(line).matches();
      inFence ^= isFence;
      boolean isOver = line.isBlank() || isFence;
      if (isOver && !inFence) {
        end = at + 1;
      }
      lineStart = at + 1;
    }
    if (end == 0) {
      return Optional.empty();
    }
    String over = waiting.substring(0, end);
    waiting.delete(0, end);
    return over.isBlank() ? Optional.empty() : Optional.of(over);
  }

  /** What is left at the end. */
  Optional<String> rest() {
    String rest = waiting.toString();
    waiting.setLength(0);
    return rest.isBlank() ? Optional.empty() : Optional.of(rest);
  }
}
