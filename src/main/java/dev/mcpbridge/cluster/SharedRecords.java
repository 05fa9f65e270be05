package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.engine.Engine;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import io.vertx.core.Future;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A shared map in the coordination store, one entry of the store for each of its entries. An entry
 * expires by the clock of each node, measured from when it arrived, so that wrong wall clocks do no
 * harm. A removed entry stays for a minute as a mark, so that a late change of it finds no new
 * entry with the version that it expects. Confined to the event loop.
 */
final class SharedRecords implements SharedMap {
  private static final long MARK_MILLIS = 60_000;
  private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int SWEPT_AT_ONCE = 100;
  private static final byte[] NOTHING = {};

  private final String prefix;
  private final Bounds bounds;
  private final Engine engine;
  private final Stamp stamp;
  private final Map<String, Row> rows = new LinkedHashMap<>();
  private final List<Runnable> listeners = new ArrayList<>();
  private int presentCount;
  private long bytes;

  /** Makes each value unique, so that a node recognizes its own changes. */
  record Stamp(LongSupplier incarnation, LongSupplier count) {}

  /**
   * An entry of the store.
   *
   * @param value null for the mark of a removed entry
   * @param isFirm whether it may not be evicted
   */
  private record Row(String path, byte[] value, long version, long untilNanos, boolean isFirm) {
    boolean isPresent(long now) {
      return value != null && untilNanos - now > 0;
    }

    long bytes() {
      return value == null ? 0 : path.length() + value.length;
    }
  }

  SharedRecords(String name, Engine engine, Stamp stamp) {
    this.prefix = prefix(name);
    this.bounds = Bounds.of(name);
    this.engine = engine;
    this.stamp = stamp;
    engine.children(prefix).forEach(this::changed);
  }

  static String prefix(String map) {
    return "maps/" + map + "/";
  }

  private String path(String key) {
    return prefix + '=' + URLEncoder.encode(key, StandardCharsets.UTF_8);
  }

  // --- changes of the copy

  /**
   * An entry of the store has changed.
   *
   * @param name its key without the prefix of the map
   * @param entry null if it was removed
   */
  void changed(String name, Engine.Entry entry) {
    Row old = entry == null ? rows.remove(name) : rows.put(name, row(prefix + name, entry));
    count(old, -1);
    count(rows.get(name), 1);
  }

  private void count(Row row, int times) {
    if (row != null) {
      bytes += times * row.bytes();
      presentCount += row.value() == null ? 0 : times;
    }
  }

  private static Row row(String path, Engine.Entry entry) {
    WireReader in = new WireReader(entry.value());
    int flags = in.octet();
    long ttlMillis = in.number();
    in.number();
    in.number();
    byte[] value = in.bytes();
    long left = ttlMillis == 0 ? Long.MAX_VALUE / 2 : millisToNanos(ttlMillis - entry.ageMillis());
    return new Row(
        path,
        (flags & 2) == 0 ? value : null,
        entry.version(),
        System.nanoTime() + Math.max(0, left),
        (flags & 1) != 0);
  }

  private static long millisToNanos(long millis) {
    return Math.min(Long.MAX_VALUE / 2, TimeUnit.MILLISECONDS.toNanos(millis));
  }

  private byte[] envelope(byte[] value, long ttlMillis, Eviction eviction) {
    int flags = (eviction == Eviction.NEVER ? 1 : 0) + (value == null ? 2 : 0);
    byte[] stored = value == null ? NOTHING : value;
    return new WireWriter(stored.length + 40)
        .octet(flags)
        .number(ttlMillis == Long.MAX_VALUE ? 0 : Math.max(1, ttlMillis))
        .number(stamp.incarnation().getAsLong())
        .number(stamp.count().getAsLong())
        .bytes(stored)
        .toBytes();
  }

  void notifyListeners() {
    listeners.forEach(Runnable::run);
  }

  @Override
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  // --- reads

  @Override
  public Future<Item> get(String key) {
    return engine.fence().map(current -> cached(key));
  }

  @Override
  public Future<Map<String, Item>> all() {
    return engine.fence().map(current -> cached());
  }

  @Override
  public Item cached(String key) {
    return item(row(key), System.nanoTime());
  }

  private Row row(String key) {
    return rows.get(path(key).substring(prefix.length()));
  }

  @Override
  public Map<String, Item> startingWith(String text) {
    long now = System.nanoTime();
    String start = path(text).substring(prefix.length());
    Map<String, Item> items = new LinkedHashMap<>();
    rows.forEach(
        (name, row) -> {
          if (name.startsWith(start) && row.isPresent(now)) {
            items.put(URLDecoder.decode(name.substring(1), StandardCharsets.UTF_8), item(row, now));
          }
        });
    return items;
  }

  private static Item item(Row row, long now) {
    long millis = System.currentTimeMillis();
    if (row == null || !row.isPresent(now)) {
      return Item.absent(millis);
    }
    long left = TimeUnit.NANOSECONDS.toMillis(row.untilNanos() - now);
    return new Item(row.value(), row.version(), millis, millis + left);
  }

  // --- changes

  @Override
  public Future<Change> put(
      String key, long expected, byte[] value, long ttlMillis, Eviction eviction) {
    return change(
        key, expected, new Stored(value, ttlMillis, envelope(value, ttlMillis, eviction)));
  }

  @Override
  public Future<Change> remove(String key, long expected) {
    if (expected == ABSENT) {
      return engine.fence().map(current -> new Change(false, false, cached(key)));
    }
    byte[] mark = envelope(null, MARK_MILLIS, Eviction.OLDEST_FIRST);
    return change(key, expected, new Stored(null, MARK_MILLIS, mark));
  }

  /**
   * What is to be stored.
   *
   * @param value null if the entry is removed
   */
  private record Stored(byte[] value, long ttlMillis, byte[] envelope) {
    Item item(long version) {
      long millis = System.currentTimeMillis();
      long until = ttlMillis > Long.MAX_VALUE - millis ? Long.MAX_VALUE : millis + ttlMillis;
      return value == null ? Item.absent(millis) : new Item(value, version, millis, until);
    }
  }

  private Future<Change> change(String key, long expected, Stored stored) {
    return cached(key).version() == expected
        ? store(key, expected, stored)
        : engine
            .fence()
            .compose(
                current ->
                    cached(key).version() == expected
                        ? store(key, expected, stored)
                        : Future.succeededFuture(new Change(false, false, cached(key))));
  }

  private Future<Change> store(String key, long expected, Stored stored) {
    Row row = row(key);
    boolean hasRoom =
        stored.value() == null || makeRoom(row, path(key).length() + stored.value().length);
    if (!hasRoom) {
      return Future.succeededFuture(new Change(false, true, cached(key)));
    }
    long version = row == null ? Engine.ABSENT : row.version();
    return engine
        .commit(List.of(new Engine.Change(path(key), version, stored.envelope())))
        .compose(
            applied ->
                applied == Engine.CONFLICT
                    ? change(key, expected, stored)
                    : Future.succeededFuture(new Change(true, false, stored.item(applied))));
  }

  /** Removes entries that may be evicted, the oldest first, until there is room. */
  private boolean makeRoom(Row replaced, int length) {
    boolean isNew = replaced == null || replaced.value() == null;
    long freed = replaced == null ? 0 : replaced.bytes();
    long tooMany = presentCount + (isNew ? 1 : 0) - bounds.entries();
    long tooLarge = bytes - freed + length - bounds.bytes();
    if (tooMany <= 0 && tooLarge <= 0) {
      return true;
    }
    long now = System.nanoTime();
    List<Row> victims = new ArrayList<>();
    for (Row row : rows.values()) {
      if (tooMany <= 0 && tooLarge <= 0) {
        break;
      }
      boolean isEvictable = row.value() != null && (!row.isFirm() || !row.isPresent(now));
      if (isEvictable && row != replaced) {
        victims.add(row);
        tooMany--;
        tooLarge -= row.bytes();
      }
    }
    victims.forEach(this::delete);
    return tooMany <= 0 && tooLarge <= 0;
  }

  private void delete(Row row) {
    engine.commit(List.of(new Engine.Change(row.path(), row.version(), null)));
  }

  /** Deletes entries that have expired a while ago; to be called at one node at intervals. */
  void sweep() {
    long latest = System.nanoTime() - SWEEP_NANOS;
    rows.values().stream()
        .filter(row -> row.untilNanos() - latest < 0)
        .limit(SWEPT_AT_ONCE)
        .toList()
        .forEach(this::delete);
  }
}
