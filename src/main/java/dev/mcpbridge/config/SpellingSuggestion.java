package dev.mcpbridge.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the known word that is most similar to a misspelt one. Stateless. */
final class SpellingSuggestion {
  private static final int MAX_SHORT = 5;
  private static final int MAX_LENGTH = 40;
  private static final int MIN_SUFFIX = 6;

  private SpellingSuggestion() {}

  /**
   * The known word with almost the same spelling. Case, {@code _} and {@code -} are ignored; one
   * error is allowed in a short word, two in a longer one.
   */
  static Optional<String> to(String word, Collection<String> known) {
    String normalized = normalized(word);
    if (normalized.length() > MAX_LENGTH) {
      return Optional.empty();
    }
    int maxErrors = normalized.length() <= MAX_SHORT ? 1 : 2;
    return known.stream()
        .filter(candidate -> distance(normalized, normalized(candidate)) <= maxErrors)
        .min(Comparator.comparingInt(candidate -> distance(normalized, normalized(candidate))));
  }

  /** The known word that this one ends with: {@code timeout} for {@code callTimeout}. */
  static Optional<String> suffixOf(String word, Collection<String> known) {
    String normalized = normalized(word);
    return known.stream()
        .filter(
            candidate ->
                candidate.length() >= MIN_SUFFIX && normalized.endsWith(normalized(candidate)))
        .findFirst();
  }

  private static String normalized(String word) {
    return word.toLowerCase(Locale.ROOT).replace("_", "").replace("-", "");
  }

  /** The number of letters that are wrong, missing, superfluous or swapped with their neighbour. */
  private static int distance(String first, String second) {
    int[][] errors = new int[first.length() + 1][second.length() + 1];
    for (int i = 0; i <= first.length(); i++) {
      for (int j = 0; j <= second.length(); j++) {
        if (i == 0 || j == 0) {
          errors[i][j] = i + j;
          continue;
        }
        int wrong = first.charAt(i - 1) == second.charAt(j - 1) ? 0 : 1;
        errors[i][j] =
            Math.min(
                errors[i - 1][j - 1] + wrong, 1 + Math.min(errors[i - 1][j], errors[i][j - 1]));
        if (i > 1
            && j > 1
            && first.charAt(i - 1) == second.charAt(j - 2)
            && first.charAt(i - 2) == second.charAt(j - 1)) {
          errors[i][j] = Math.min(errors[i][j], errors[i - 2][j - 2] + 1);
        }
      }
    }
    return errors[first.length()][second.length()];
  }
}
