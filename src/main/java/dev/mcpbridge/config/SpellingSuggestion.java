package dev.mcpbridge.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the word that was meant by a misspelt one. Stateless. */
final class SpellingSuggestion {
  private static final int SHORT = 5;
  private static final int LONGEST = 40;
  private static final int TELLING_END = 6;

  private SpellingSuggestion() {}

  /**
   * The known word that is spelt almost like this one: but for case, {@code _} and {@code -} one
   * slip in a short word, two in a longer one.
   */
  static Optional<String> to(String word, Collection<String> known) {
    String plain = plain(word);
    if (plain.length() > LONGEST) {
      return Optional.empty();
    }
    int slips = plain.length() <= SHORT ? 1 : 2;
    return known.stream()
        .filter(candidate -> slips(plain, plain(candidate)) <= slips)
        .min(Comparator.comparingInt(candidate -> slips(plain, plain(candidate))));
  }

  /** The known word that this one ends with, as {@code timeout} in {@code callTimeout}. */
  static Optional<String> endOf(String word, Collection<String> known) {
    String plain = plain(word);
    return known.stream()
        .filter(candidate -> candidate.length() >= TELLING_END && plain.endsWith(plain(candidate)))
        .findFirst();
  }

  private static String plain(String word) {
    return word.toLowerCase(Locale.ROOT).replace("_", "").replace("-", "");
  }

  /** How many letters are wrong, missing, too many, or swapped with their neighbour. */
  private static int slips(String one, String other) {
    int[][] slips = new int[one.length() + 1][other.length() + 1];
    for (int i = 0; i <= one.length(); i++) {
      for (int j = 0; j <= other.length(); j++) {
        if (i == 0 || j == 0) {
          slips[i][j] = i + j;
          continue;
        }
        int wrong = one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1;
        slips[i][j] =
            Math.min(slips[i - 1][j - 1] + wrong, 1 + Math.min(slips[i - 1][j], slips[i][j - 1]));
        if (i > 1
            && j > 1
            && one.charAt(i - 1) == other.charAt(j - 2)
            && one.charAt(i - 2) == other.charAt(j - 1)) {
          slips[i][j] = Math.min(slips[i][j], slips[i - 2][j - 2] + 1);
        }
      }
    }
    return slips[one.length()][other.length()];
  }
}
