package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The shared maps of a single node. An expired entry is treated as absent. The number of maps is
 * bounded, and so are the entries and bytes of each map.
 */
final class Tables {
  private static final int MAX_ENTRIES = 20_000;
  private static final Map<String, Integer> MAX_ENTRIES_BY_MAP =
      Map.of("confirmations", 10_000, "credentials", 10_000);
  private static final long MAX_BYTES = 64L << 20;
  private static final int MAX_MAPS = 7;

  private final TreeMap<String, Table> tables = new TreeMap<>();

  /** A change of an entry whose current version is the expected one. */
  record Put(
      String map, String key, long expected, byte[] value, long ttlMillis, Eviction eviction) {}

  private record Row(byte[] value, long version, long untilMillis, boolean isFirm) {
    boolean isExpired(long millis) {
      return untilMillis <= millis;
    }
  }

  private static final class Table {
    final int maxEntries;
    final Map<String, Row> rows = new LinkedHashMap<>();
    long bytes;

    Table(String map) {
      maxEntries = MAX_ENTRIES_BY_MAP.getOrDefault(map, MAX_ENTRIES);
    }

    void put(String key, Row row) {
      remove(key);
      rows.put(key, row);
      bytes += key.length() + row.value().length;
    }

    void remove(String key) {
      Row old = rows.remove(key);
      bytes -= old == null ? 0 : key.length() + old.value().length;
    }

    boolean hasRoomFor(String key, byte[] value) {
      return (rows.containsKey(key) || rows.size() < maxEntries)
          && bytes + value.length <= MAX_BYTES;
    }
  }

  Change put(Put put, long version, long millis) {
    String map = put.map();
    String key = put.key();
    byte[] value = put.value();
    if (!tables.containsKey(map) && tables.size() == MAX_MAPS) {
      return new Change(false, true, Item.absent(millis));
    }
    Table table = tables.computeIfAbsent(map, Table::new);
    Item before = get(map, key, millis);
    if (before.version() != put.expected()) {
      return new Change(false, false, before);
    }
    makeRoom(table, key, value, millis);
    if (!table.hasRoomFor(key, value)) {
      return new Change(false, true, before);
    }
    long until = put.ttlMillis() == Long.MAX_VALUE ? Long.MAX_VALUE : millis + put.ttlMillis();
    table.put(key, new Row(value, version, until, put.eviction() == Eviction.NEVER));
    return new Change(true, false, new Item(value, version, millis, until));
  }

  Change remove(String map, String key, long expected, long millis) {
    Item before = get(map, key, millis);
    if (!before.isPresent() || before.version() != expected) {
      return new Change(false, false, before);
    }
    tables.get(map).remove(key);
    return new Change(true, false, Item.absent(millis));
  }

  Item get(String map, String key, long millis) {
    Table table = tables.get(map);
    Row row = table == null ? null : table.rows.get(key);
    return row == null || row.isExpired(millis)
        ? Item.absent(millis)
        : new Item(row.value(), row.version(), millis, row.untilMillis());
  }

  Map<String, Item> all(String map, long millis) {
    Map<String, Item> items = new LinkedHashMap<>();
    Table table = tables.get(map);
    if (table != null) {
      table.rows.forEach(
          (key, row) -> {
            if (!row.isExpired(millis)) {
              items.put(key, new Item(row.value(), row.version(), millis, row.untilMillis()));
            }
          });
    }
    return items;
  }

  private static void makeRoom(Table table, String key, byte[] value, long millis) {
    if (!table.hasRoomFor(key, value)) {
      removeExpired(table, millis);
    }
    List<String> oldest =
        table.hasRoomFor(key, value)
            ? List.of()
            : table.rows.entrySet().stream()
                .filter(row -> !row.getValue().isFirm())
                .map(Map.Entry::getKey)
                .toList();
    for (int i = 0; i < oldest.size() && !table.hasRoomFor(key, value); i++) {
      table.remove(oldest.get(i));
    }
  }

  private static void removeExpired(Table table, long millis) {
    table.rows.entrySet().stream()
        .filter(row -> row.getValue().isExpired(millis))
        .map(Map.Entry::getKey)
        .toList()
        .forEach(table::remove);
  }
}
