package dev.mcpbridge.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The map of a single node: versions, expiry and bounds. */
class LocalMapTest {
  private static final byte[] VALUE = {1};
  private static final long TTL = 1_000;

  private Instant now = Instant.ofEpochMilli(1_700_000_000_000L);
  private final LocalMap map =
      new LocalMap(
          "confirmations",
          new Clock() {
            @Override
            public Instant instant() {
              return now;
            }

            @Override
            public ZoneOffset getZone() {
              return ZoneOffset.UTC;
            }

            @Override
            public Clock withZone(java.time.ZoneId zone) {
              return this;
            }
          });

  private Change put(String key, long expected, long ttl, Eviction eviction) {
    return map.put(key, expected, VALUE, ttl, eviction).result();
  }

  private Change put(String key) {
    return put(key, SharedMap.ABSENT, TTL, Eviction.NEVER);
  }

  @Test
  void entryIsChangedOnlyWithItsVersion() {
    Item first = put("k").item();

    assertFalse(put("k").isDone());
    Item second = put("k", first.version(), TTL, Eviction.NEVER).item();
    assertFalse(map.remove("k", first.version()).result().isDone());
    assertTrue(map.remove("k", second.version()).result().isDone());
    assertFalse(map.cached("k").isPresent());
    assertTrue(put("k").item().version() > second.version(), "a version is never used again");
  }

  @Test
  void entriesAreFoundByTheStartOfTheirKey() {
    put("a/1");
    put("a/2");
    put("b");

    assertEquals(Set.of("a/1", "a/2"), map.startingWith("a/").keySet());
    assertEquals(Set.of("a/1", "a/2", "b"), map.cached().keySet());
    now = now.plusMillis(TTL);
    assertEquals(Set.of(), map.startingWith("a/").keySet());
  }

  @Test
  void expiredEntryIsAbsent() {
    put("k");
    now = now.plusMillis(TTL);

    assertFalse(map.cached("k").isPresent());
    assertEquals(Set.of(), map.cached().keySet());
    assertTrue(put("k").isDone());
  }

  @Test
  void fullMapEvictsTheOldestEntriesThatMayBeEvictedAndRefusesOthers() {
    put("old", SharedMap.ABSENT, TTL, Eviction.OLDEST_FIRST);
    for (int i = 1; i < 10_000; i++) {
      assertTrue(put("k" + i).isDone());
    }

    assertTrue(put("next").isDone());
    assertFalse(map.cached("old").isPresent());
    assertTrue(put("another").isFull());
    now = now.plusMillis(TTL);
    assertTrue(put("another").isDone(), "expired entries make room");
    assertEquals(1, map.cached().size());
  }

  @Test
  void listenersAreToldOfChanges() {
    int[] changes = {0};
    map.onChange(() -> changes[0]++);

    Item item = put("k").item();
    put("k");
    map.remove("k", item.version());

    assertEquals(2, changes[0]);
  }

  /** A map in which another node changes the entry right after it was read for the first time. */
  private static final class Contended implements SharedMap {
    private final SharedMap map;
    private boolean isChanged;

    Contended(SharedMap map) {
      this.map = map;
    }

    @Override
    public Future<Item> get(String key) {
      Future<Item> read = map.get(key);
      if (!isChanged) {
        isChanged = true;
        map.put(key, read.result().version(), new byte[] {2}, 60_000, Eviction.NEVER);
      }
      return read;
    }

    @Override
    public Future<Change> put(
        String key, long expected, byte[] value, long ttlMillis, Eviction eviction) {
      return map.put(key, expected, value, ttlMillis, eviction);
    }

    @Override
    public Future<Change> remove(String key, long expected) {
      return map.remove(key, expected);
    }

    @Override
    public Future<Map<String, Item>> all() {
      return map.all();
    }

    @Override
    public Item cached(String key) {
      return map.cached(key);
    }

    @Override
    public Map<String, Item> startingWith(String text) {
      return map.startingWith(text);
    }

    @Override
    public void onChange(Runnable listener) {
      map.onChange(listener);
    }
  }

  @Test
  void entryThatChangesWhileItIsRemovedIsRemoved() {
    SharedMap own = new LocalMap("m", Clock.systemUTC());
    own.put("k", SharedMap.ABSENT, new byte[] {1}, 60_000, Eviction.NEVER);

    assertTrue(new Contended(own).remove("k").succeeded());

    assertFalse(own.cached("k").isPresent());
    assertTrue(own.remove("k").succeeded(), "an absent entry is no failure");
  }
}
