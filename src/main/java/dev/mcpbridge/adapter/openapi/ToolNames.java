package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.protocol.Sha256;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Names of tools and arguments that every client takes. A name that several share, or that had to
 * be cut, gets a hash of what it stands for, so that it does not depend on any order. Stateless.
 */
final class ToolNames {
  private static final int MAX = 64;
  private static final int HASH = 8;

  private ToolNames() {}

  /** What an operation is to be called before others are looked at. */
  static String wanted(String operationId, String method, String path) {
    String text =
        operationId.isBlank() ? method.toLowerCase(java.util.Locale.ROOT) + path : operationId;
    String name = text.replaceAll("[^A-Za-z0-9_-]+", "_").replaceAll("^_+|_+$", "");
    return name.isEmpty() ? "operation" : name;
  }

  /**
   * @param wanted of every operation
   * @param places what tells each from all others, in the same order
   */
  static List<String> distinct(List<String> wanted, List<String> places) {
    Map<String, Integer> counts = new HashMap<>();
    wanted.forEach(name -> counts.merge(name, 1, Integer::sum));
    String[] names = new String[wanted.size()];
    for (int i = 0; i < names.length; i++) {
      String name = wanted.get(i);
      boolean isPlain = name.length() <= MAX && counts.get(name) == 1;
      names[i] = isPlain ? name : hashed(name, places.get(i));
    }
    return List.of(names);
  }

  private static String hashed(String name, String place) {
    return name.substring(0, Math.min(name.length(), MAX - HASH - 1))
        + "_"
        + Sha256.of(place).hex(HASH);
  }

  /** Keys of arguments: those of providers' APIs, unique within one operation. */
  static String key(String name, String in, Map<String, ?> taken) {
    String plain = name.replaceAll("[^A-Za-z0-9_.-]", "_");
    String key = plain.substring(0, Math.min(plain.length(), MAX));
    if (key.isEmpty() || taken.containsKey(key)) {
      key = in + "_" + key;
    }
    while (taken.containsKey(key) || key.length() > MAX) {
      key =
          key.substring(0, Math.min(key.length(), MAX - HASH - 1))
              + "_"
              + Sha256.of(in + name + key).hex(HASH);
    }
    return key;
  }
}
