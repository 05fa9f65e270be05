package dev.mcpbridge.cluster.engine;

import dev.mcpbridge.cluster.engine.Engine.Change;
import dev.mcpbridge.cluster.engine.Engine.Entry;
import dev.mcpbridge.cluster.engine.Engine.Listener;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** This node's copy of the store. Confined to the engine's context. */
final class Copy {
  private final TreeMap<String, Node> nodes = new TreeMap<>();
  private Listener listener;

  /**
   * @param dataVersion ZooKeeper's version of the node, which begins anew when the node is created
   *     again; the entry's version is the id of the transaction, which does not
   */
  record Node(Entry entry, int dataVersion) {}

  void listen(Listener newListener) {
    listener = newListener;
  }

  Entry get(String key) {
    Node node = nodes.get(key);
    return node == null ? null : node.entry();
  }

  /** The data version of an entry; -2 if absent. */
  int dataVersion(String key) {
    Node node = nodes.get(key);
    return node == null ? -2 : node.dataVersion();
  }

  boolean hasVersions(List<Change> changes) {
    return changes.stream().allMatch(change -> version(change.key()) == change.expected());
  }

  private long version(String key) {
    Node node = nodes.get(key);
    return node == null ? Engine.ABSENT : node.entry().version();
  }

  Map<String, Entry> children(String prefix) {
    Map<String, Entry> found = new HashMap<>();
    nodes
        .subMap(prefix, prefix + Character.MAX_VALUE)
        .forEach((key, node) -> found.put(key.substring(prefix.length()), node.entry()));
    return found;
  }

  void put(String key, Node node) {
    if (version(key) < node.entry().version()) {
      nodes.put(key, node);
      listener.changed(key, node.entry());
    }
  }

  void remove(String key) {
    if (nodes.remove(key) != null) {
      listener.changed(key, null);
    }
  }

  /** Replaces everything after a time without a connection. */
  void replace(Map<String, Node> all) {
    for (String key : new ArrayList<>(nodes.keySet())) {
      if (!all.containsKey(key)) {
        remove(key);
      }
    }
    all.forEach(this::put);
    listener.loaded();
  }
}
