package dev.mcpbridge.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.cluster.engine.Engine;
import dev.mcpbridge.cluster.engine.MemoryEngine;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Shared maps in the coordination store. */
class SharedRecordsTest {
  private static final long HOUR = 3_600_000;

  private final MemoryEngine.Store store = new MemoryEngine.Store();
  private final AtomicLong stamps = new AtomicLong();
  private final Node here = new Node();
  private final Node there = new Node();

  private final class Node implements Engine.Listener {
    final MemoryEngine engine = new MemoryEngine(store);
    final SharedRecords map =
        new SharedRecords("m", engine, new SharedRecords.Stamp(() -> 1, stamps::incrementAndGet));

    Node() {
      engine.open(this);
    }

    @Override
    public void loaded() {
      // nothing was stored before
    }

    @Override
    public void changed(String key, Engine.Entry entry) {
      map.changed(key.substring(SharedRecords.prefix("m").length()), entry);
    }

    Change put(String key, long expected, int... value) {
      return put(key, expected, HOUR, Eviction.NEVER, new byte[value.length]);
    }

    Change put(String key, long expected, long ttl, Eviction eviction, byte[] value) {
      return map.put(key, expected, value, ttl, eviction).result();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"key", "a/b c\u0000ä", "..", "%2F=+"})
  void entryIsKnownAtAllNodesUnderItsKey(String key) {
    byte[] value = {1, 2, 3};

    Change stored = here.put(key, SharedMap.ABSENT, HOUR, Eviction.NEVER, value);

    assertTrue(stored.isDone());
    Item found = there.map.get(key).result();
    assertArrayEquals(value, found.value());
    assertEquals(stored.item().version(), found.version());
    assertEquals(1, there.map.cached().size());
    assertTrue(there.map.cached().containsKey(key), there.map.cached().keySet().toString());
    assertEquals(Set.of(key), there.map.startingWith(key).keySet());
    assertEquals(Set.of(key), there.map.startingWith(key.substring(0, 1)).keySet());
    assertEquals(Set.of(), there.map.startingWith(key + "x").keySet());
  }

  @Test
  void onlyOneNodeClaimsAName() {
    assertTrue(here.put("k", SharedMap.ABSENT, 1).isDone());

    Change second = there.put("k", SharedMap.ABSENT, 1);

    assertFalse(second.isDone());
    assertTrue(second.item().isPresent());
  }

  @Test
  void staleVersionChangesNothing() {
    long first = here.put("k", SharedMap.ABSENT, 1).item().version();
    long second = there.put("k", first, 1, 2).item().version();

    assertFalse(here.put("k", first, 1, 2, 3).isDone());
    assertFalse(here.map.remove("k", first).result().isDone());
    assertEquals(second, here.map.get("k").result().version());
  }

  @Test
  void removedNameCanBeClaimedAgainButNotByAnOldVersion() {
    long first = here.put("k", SharedMap.ABSENT, 1).item().version();
    assertTrue(there.map.remove("k", here.map.get("k").result().version()).result().isDone());
    assertFalse(here.map.get("k").result().isPresent());

    Change again = there.put("k", SharedMap.ABSENT, 1);

    assertTrue(again.isDone());
    assertFalse(here.put("k", first, 1).isDone());
    assertEquals(again.item().version(), here.map.get("k").result().version());
  }

  @Test
  void absentEntryCannotBeRemoved() {
    assertFalse(here.map.remove("k", SharedMap.ABSENT).result().isDone());
    assertFalse(here.map.remove("k", 7).result().isDone());
  }

  @Test
  void expiredEntryIsAbsentAndItsNameFree() throws Exception {
    here.put("k", SharedMap.ABSENT, 1, Eviction.NEVER, new byte[1]);
    there.engine.follow();
    long end = System.nanoTime() + 2_000_000;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }

    assertFalse(there.map.cached("k").isPresent());
    assertTrue(there.map.cached().isEmpty());
    assertTrue(there.put("k", SharedMap.ABSENT, 1).isDone());
  }

  @Test
  void oldestEntriesThatMayBeEvictedMakeRoom() {
    for (int i = 0; i < 20_000; i++) {
      Eviction eviction = i < 10 ? Eviction.NEVER : Eviction.OLDEST_FIRST;
      assertTrue(here.put("k" + i, SharedMap.ABSENT, HOUR, eviction, new byte[1]).isDone());
    }

    assertTrue(here.put("one more", SharedMap.ABSENT, 1).isDone());

    assertTrue(here.map.cached("k9").isPresent());
    assertFalse(here.map.cached("k10").isPresent());
    assertTrue(here.map.cached("k11").isPresent());
  }

  @Test
  void mapThatIsFullOfFirmEntriesTakesNoMore() {
    byte[] large = new byte[8 << 20];
    for (int i = 0; i < 7; i++) {
      assertTrue(
          here.put("k" + i, SharedMap.ABSENT, HOUR, Eviction.NEVER, large).isDone(), "k" + i);
    }

    Change full = here.put("k7", SharedMap.ABSENT, HOUR, Eviction.NEVER, large);

    assertTrue(full.isFull());
    assertFalse(full.isDone());
  }
}
