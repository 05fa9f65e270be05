package dev.mcpbridge.cluster;

import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * A map of a single node, bounded like a shared one. An expired entry is treated as absent.
 * Confined to the event loop.
 */
final class LocalMap implements SharedMap {
  private final Bounds bounds;
  private final Clock clock;
  private final List<Runnable> listeners = new ArrayList<>();
  private final Map<String, Row> rows = new LinkedHashMap<>();
  private long bytes;
  private long versions;

  private record Row(byte[] value, long version, long untilMillis, boolean isFirm) {
    boolean isExpired(long millis) {
      return untilMillis <= millis;
    }

    Item item(long millis) {
      return new Item(value, version, millis, untilMillis);
    }
  }

  LocalMap(String name, Clock clock) {
    this.bounds = Bounds.of(name);
    this.clock = clock;
  }

  @Override
  public Future<Change> put(
      String key, long expected, byte[] value, long ttlMillis, Eviction eviction) {
    long millis = clock.millis();
    Item before = cached(key);
    if (before.version() != expected) {
      return Future.succeededFuture(new Change(false, false, before));
    }
    makeRoom(key, value, millis);
    if (!hasRoomFor(key, value)) {
      return Future.succeededFuture(new Change(false, true, before));
    }
    long until = ttlMillis == Long.MAX_VALUE ? Long.MAX_VALUE : millis + ttlMillis;
    Row row = new Row(value, ++versions, until, eviction == Eviction.NEVER);
    delete(key);
    rows.put(key, row);
    bytes += key.length() + value.length;
    return changed(row.item(millis));
  }

  @Override
  public Future<Change> remove(String key, long expected) {
    Item before = cached(key);
    if (!before.isPresent() || before.version() != expected) {
      return Future.succeededFuture(new Change(false, false, before));
    }
    delete(key);
    return changed(Item.absent(clock.millis()));
  }

  private Future<Change> changed(Item item) {
    listeners.forEach(Runnable::run);
    return Future.succeededFuture(new Change(true, false, item));
  }

  @Override
  public Future<Item> get(String key) {
    return Future.succeededFuture(cached(key));
  }

  @Override
  public Future<Map<String, Item>> all() {
    return Future.succeededFuture(cached());
  }

  @Override
  public Item cached(String key) {
    long millis = clock.millis();
    Row row = rows.get(key);
    return row == null || row.isExpired(millis) ? Item.absent(millis) : row.item(millis);
  }

  @Override
  public Map<String, Item> startingWith(String text) {
    long millis = clock.millis();
    Map<String, Item> items = new LinkedHashMap<>();
    rows.forEach(
        (key, row) -> {
          if (key.startsWith(text) && !row.isExpired(millis)) {
            items.put(key, row.item(millis));
          }
        });
    return items;
  }

  @Override
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  private void delete(String key) {
    Row old = rows.remove(key);
    bytes -= old == null ? 0 : key.length() + old.value().length;
  }

  private boolean hasRoomFor(String key, byte[] value) {
    return (rows.containsKey(key) || rows.size() < bounds.entries())
        && bytes + value.length <= bounds.bytes();
  }

  /** Deletes expired entries if there is no room, then those that may be evicted, oldest first. */
  private void makeRoom(String key, byte[] value, long millis) {
    if (!hasRoomFor(key, value)) {
      keys(row -> row.isExpired(millis)).forEach(this::delete);
    }
    List<String> oldest = hasRoomFor(key, value) ? List.of() : keys(row -> !row.isFirm());
    for (int i = 0; i < oldest.size() && !hasRoomFor(key, value); i++) {
      delete(oldest.get(i));
    }
  }

  private List<String> keys(Predicate<Row> rule) {
    return rows.entrySet().stream()
        .filter(row -> rule.test(row.getValue()))
        .map(Map.Entry::getKey)
        .toList();
  }
}
