package dev.mcpbridge.adapter;

import dev.mcpbridge.protocol.Sha256;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Names of tools that every client accepts. Ambiguous and truncated names get a hash of the
 * operation as suffix, so names do not depend on the order of operations. Stateless.
 */
public final class DistinctNames {
  private static final int MAX = 64;
  private static final int HASH = 8;

  private DistinctNames() {}

  /**
   * Makes names unique.
   *
   * @param preferred the preferred names of all operations
   * @param identifiers unique identifiers of the operations, in the same order
   */
  public static List<String> of(List<String> preferred, List<String> identifiers) {
    Map<String, Integer> counts = new HashMap<>();
    preferred.forEach(name -> counts.merge(name, 1, Integer::sum));
    String[] names = new String[preferred.size()];
    for (int i = 0; i < names.length; i++) {
      String name = preferred.get(i);
      boolean isPlain = name.length() <= MAX && counts.get(name) == 1;
      names[i] = isPlain ? name : hashed(name, identifiers.get(i));
    }
    return List.of(names);
  }

  /** A name with a hash as suffix, of at most 64 characters. */
  public static String hashed(String name, String identifier) {
    return name.substring(0, Math.min(name.length(), MAX - HASH - 1))
        + "_"
        + Sha256.of(identifier).hex(HASH);
  }
}
