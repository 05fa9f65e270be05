package dev.mcpbridge.cluster;

import io.vertx.core.Future;
import java.util.Map;

/**
 * A map that is replicated to all nodes and survives the loss of a minority. Changes are applied
 * exactly once, in one total order. If the future of a change fails, its outcome is unknown.
 */
public interface SharedMap {

  /** The version of an absent entry. */
  long ABSENT = 0;

  /**
   * A value and its version.
   *
   * @param value null if the entry is absent
   * @param version {@link #ABSENT} if the entry is absent
   * @param millis the cluster's clock at the time of the read
   * @param untilMillis when the entry expires, on the same clock
   */
  record Item(byte[] value, long version, long millis, long untilMillis) {
    public boolean isPresent() {
      return value != null;
    }

    static Item absent(long millis) {
      return new Item(null, ABSENT, millis, millis);
    }
  }

  /**
   * How much a map holds.
   *
   * @param bytes of keys and values
   */
  record Bounds(int entries, long bytes) {
    private static final int MAX_ENTRIES = 20_000;
    private static final Map<String, Integer> MAX_ENTRIES_BY_MAP =
        Map.of("confirmations", 10_000, "credentials", 10_000);
    private static final long MAX_BYTES = 64L << 20;

    static Bounds of(String map) {
      return new Bounds(MAX_ENTRIES_BY_MAP.getOrDefault(map, MAX_ENTRIES), MAX_BYTES);
    }
  }

  /** What happens to an entry when the map is full. */
  enum Eviction {
    /** It is kept; new entries are rejected. */
    NEVER,
    /** It may be evicted, the oldest first. */
    OLDEST_FIRST
  }

  /**
   * Sets a value if the current version is the expected one.
   *
   * @param ttlMillis time to live of the entry; {@link Long#MAX_VALUE} if it does not expire
   * @return the entry afterwards; its version is new if and only if it was set
   */
  Future<Change> put(String key, long expected, byte[] value, long ttlMillis, Eviction eviction);

  /** Removes an entry if its current version is the expected one. */
  Future<Change> remove(String key, long expected);

  /** Removes an entry whatever its version, also one that is changed meanwhile. */
  default Future<Void> remove(String key) {
    return get(key)
        .compose(
            item ->
                item.isPresent()
                    ? remove(key, item.version())
                        .compose(change -> change.isDone() ? Future.succeededFuture() : remove(key))
                    : Future.succeededFuture());
  }

  /** Reads an entry; linearizable. */
  Future<Item> get(String key);

  /** Reads all entries; linearizable. */
  Future<Map<String, Item>> all();

  /** Reads an entry from this node's copy, which may be stale. */
  Item cached(String key);

  /** Reads the entries whose keys start with a text from this node's copy, which may be stale. */
  Map<String, Item> startingWith(String text);

  /** Reads all entries from this node's copy, which may be stale. */
  default Map<String, Item> cached() {
    return startingWith("");
  }

  /** Registers a listener for changes that are applied on this node. */
  void onChange(Runnable listener);

  /**
   * The result of a change.
   *
   * @param isDone false if the version did not match or the map is full
   * @param isFull whether the map is full
   * @param item the entry afterwards
   */
  record Change(boolean isDone, boolean isFull, Item item) {}
}
