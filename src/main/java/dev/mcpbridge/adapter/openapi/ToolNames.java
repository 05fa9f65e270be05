package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.adapter.DistinctNames;
import java.util.function.Predicate;

/** Names of tools and arguments that every client accepts. Stateless. */
final class ToolNames {
  private static final int MAX = 64;

  private ToolNames() {}

  /** The preferred name of an operation, not necessarily unique. */
  static String candidate(String operationId, String method, String path) {
    String text =
        operationId.isBlank() ? method.toLowerCase(java.util.Locale.ROOT) + path : operationId;
    String name = text.replaceAll("[^A-Za-z0-9_-]+", "_").replaceAll("^_+|_+$", "");
    return name.isEmpty() ? "operation" : name;
  }

  /** An argument name that providers accept, unique within its operation. */
  static String key(String name, String in, Predicate<String> isUsed) {
    String plain = name.replaceAll("[^A-Za-z0-9_.-]", "_");
    String key = plain.substring(0, Math.min(plain.length(), MAX));
    if (key.isEmpty() || isUsed.test(key)) {
      key = in + "_" + key;
    }
    while (isUsed.test(key) || key.length() > MAX) {
      key = DistinctNames.hashed(key, in + name + key);
    }
    return key;
  }
}
