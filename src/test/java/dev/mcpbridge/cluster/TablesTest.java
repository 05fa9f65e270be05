package dev.mcpbridge.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import org.junit.jupiter.api.Test;

/** The bounds of shared maps. */
class TablesTest {
  private static final long MILLIS = 1_700_000_000_000L;

  private final Tables tables = new Tables();

  private Change put(String map, String key, byte[] value) {
    return tables.put(
        new Tables.Put(map, key, SharedMap.ABSENT, value, Long.MAX_VALUE, Eviction.NEVER),
        Long.MAX_VALUE,
        MILLIS);
  }

  @Test
  void newMapIsFullAtTheLimitOfMaps() {
    int maps = 0;
    while (maps < 100 && put("map" + maps, "k", new byte[1]).isDone()) {
      maps++;
    }

    assertTrue(put("another", "k", new byte[1]).isFull());
    assertTrue(put("map0", "another", new byte[1]).isDone());
    assertEquals(7, maps);
  }
}
