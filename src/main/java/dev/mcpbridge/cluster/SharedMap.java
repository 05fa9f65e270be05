package dev.mcpbridge.cluster;

import io.vertx.core.Future;
import java.util.Map;

/**
 * Entries that all nodes see alike and that survive the loss of some. A change happens once, for
 * all, in one order with every other change; a failed future leaves it open whether it happened.
 */
public interface SharedMap {

  /** The version that an entry which is not there has. */
  long ABSENT = 0;

  /**
   * A value, and what it takes to change it.
   *
   * @param version of this value; null values have {@link #ABSENT}
   * @param millis the cluster's clock at the moment that this was true
   * @param untilMillis when it will be gone, on the same clock
   */
  record Item(byte[] value, long version, long millis, long untilMillis) {
    public boolean isThere() {
      return value != null;
    }

    static Item absent(long millis) {
      return new Item(null, ABSENT, millis, millis);
    }
  }

  /** What becomes of an entry where there is no room for a new one. */
  enum Keep {
    /** It stays, and the new one is refused. */
    FIRM,
    /** The oldest of these goes. */
    WHILE_ROOM
  }

  /**
   * Sets a value where the version is still the given one.
   *
   * @param ttlMillis after which it is gone
   * @return the entry afterwards; its version is new exactly where it was set
   */
  Future<Change> put(String key, long expected, byte[] value, long ttlMillis, Keep keep);

  /** Removes an entry where its version is still the given one. */
  Future<Change> remove(String key, long expected);

  /** What is there now, on no node's word alone. */
  Future<Item> get(String key);

  /** All that is there now. */
  Future<Map<String, Item>> all();

  /** What this node knows, which may be a moment old. */
  Item known(String key);

  /** All that this node knows of, which may be a moment old. */
  Map<String, Item> known();

  /** Is told of every change that this node hears of. */
  void onChange(Runnable heard);

  /**
   * How a change ended.
   *
   * @param isDone false where the version was another one, or there is no room
   * @param isFull whether there is no room
   * @param item what is there afterwards
   */
  record Change(boolean isDone, boolean isFull, Item item) {}
}
