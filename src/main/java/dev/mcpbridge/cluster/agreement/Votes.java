package dev.mcpbridge.cluster.agreement;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/** One answer of each slot, as long as the life that gave it goes on. */
final class Votes<V> {
  private final long[] incarnations;
  private final Map<Integer, Vote<V>> votes = new HashMap<>();

  record Vote<V>(int from, long incarnation, V value) {}

  /**
   * @param incarnations the latest lives, as they become known
   */
  Votes(long[] incarnations) {
    this.incarnations = incarnations;
  }

  void add(int from, V value) {
    votes.put(from, new Vote<>(from, incarnations[from], value));
  }

  void clear() {
    votes.clear();
  }

  int size() {
    return (int) valid().count();
  }

  Stream<Vote<V>> valid() {
    return votes.values().stream().filter(v -> v.incarnation() == incarnations[v.from()]);
  }
}
