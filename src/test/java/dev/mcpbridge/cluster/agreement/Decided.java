package dev.mcpbridge.cluster.agreement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** What was applied anywhere, so that nobody applies something else, or leaves something out. */
final class Decided {
  private final Map<Long, TreeMap<Long, String>> byGeneration = new HashMap<>();

  /**
   * A node has applied something.
   *
   * @param before the op that it had applied last
   * @return whether it was the first one
   */
  boolean note(long generation, long before, long op, String text) {
    TreeMap<Long, String> all =
        byGeneration.computeIfAbsent(generation, unknown -> new TreeMap<>());
    boolean isFirst = all.isEmpty() || all.lastKey() < op;
    if (isFirst) {
      all.put(op, text);
    }
    assertEquals(all.get(op), text, () -> "op " + op);
    assertTrue(
        all.subMap(before, false, op, false).isEmpty(),
        () -> "what is between " + before + " and " + op + " is missing");
    return isFirst;
  }
}
