package dev.mcpbridge.access;

import dev.mcpbridge.model.Glob;
import java.util.BitSet;

/**
 * Compares a pattern with a URI template (RFC 6570), whose expressions may expand to any text.
 * Stateless.
 */
final class TemplatePattern {
  /** Stands for an expression; no URI contains it. */
  private static final char ANYTHING = '\0';

  private TemplatePattern() {}

  /** Whether a text exists that the pattern matches and that the template can expand to. */
  static boolean intersects(Glob pattern, String template) {
    String glob = pattern.pattern();
    String text = template.replaceAll("\\{[^}]*}", String.valueOf(ANYTHING));
    BitSet reached = new BitSet(text.length() + 1);
    reached.set(0);
    skipExpressions(reached, text);
    for (int p = 0; p < glob.length(); p++) {
      reached = step(glob.charAt(p), reached, text);
    }
    return reached.get(text.length());
  }

  /** The positions of the template after one more character of the pattern. */
  private static BitSet step(char symbol, BitSet before, String text) {
    BitSet after = new BitSet(text.length() + 1);
    if (symbol == '*') {
      int first = before.nextSetBit(0);
      if (first >= 0) {
        after.set(first, text.length() + 1);
      }
      return after;
    }
    for (int at = before.nextSetBit(0); at >= 0; at = before.nextSetBit(at + 1)) {
      if (at < text.length() && text.charAt(at) == ANYTHING) {
        after.set(at);
      } else if (at < text.length() && text.charAt(at) == symbol) {
        after.set(at + 1);
      }
    }
    skipExpressions(after, text);
    return after;
  }

  /** An expression may expand to nothing. */
  private static void skipExpressions(BitSet reached, String text) {
    for (int at = reached.nextSetBit(0); at >= 0; at = reached.nextSetBit(at + 1)) {
      if (at < text.length() && text.charAt(at) == ANYTHING) {
        reached.set(at + 1);
      }
    }
  }
}
