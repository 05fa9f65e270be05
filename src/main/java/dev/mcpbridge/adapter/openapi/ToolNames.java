package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.protocol.Sha256;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Names of tools and arguments that every client accepts. Ambiguous and truncated names get a hash
 * of the operation as suffix, so names do not depend on the order of operations. Stateless.
 */
final class ToolNames {
  private static final int MAX = 64;
  private static final int HASH = 8;

  private ToolNames() {}

  /** The preferred name of an operation, not necessarily unique. */
  static String candidate(String operationId, String method, String path) {
    String text =
        operationId.isBlank() ? method.toLowerCase(java.util.Locale.ROOT) + path : operationId;
    String name = text.replaceAll("[^A-Za-z0-9_-]+", "_").replaceAll("^_+|_+$", "");
    return name.isEmpty() ? "operation" : name;
  }

  /**
   * Makes names unique.
   *
   * @param preferred the preferred names of all operations
   * @param identifiers unique identifiers of the operations, in the same order
   */
  static List<String> distinct(List<String> preferred, List<String> identifiers) {
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

  private static String hashed(String name, String identifier) {
    return name.substring(0, Math.min(name.length(), MAX - HASH - 1))
        + "_"
        + Sha256.of(identifier).hex(HASH);
  }

  /** An argument name that providers accept, unique within its operation. */
  static String key(String name, String in, Predicate<String> isUsed) {
    String plain = name.replaceAll("[^A-Za-z0-9_.-]", "_");
    String key = plain.substring(0, Math.min(plain.length(), MAX));
    if (key.isEmpty() || isUsed.test(key)) {
      key = in + "_" + key;
    }
    while (isUsed.test(key) || key.length() > MAX) {
      key =
          key.substring(0, Math.min(key.length(), MAX - HASH - 1))
              + "_"
              + Sha256.of(in + name + key).hex(HASH);
    }
    return key;
  }
}
