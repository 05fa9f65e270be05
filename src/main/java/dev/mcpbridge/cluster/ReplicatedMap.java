package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.Command.Look;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** A map whose changes and linearizable reads are commands of the replicated state. */
final class ReplicatedMap implements SharedMap {
  private final String name;
  private final ClusterState state;
  private final Function<Command, Future<Change>> propose;
  private final List<Runnable> listeners = new ArrayList<>();

  ReplicatedMap(String name, ClusterState state, Function<Command, Future<Change>> propose) {
    this.name = name;
    this.state = state;
    this.propose = propose;
  }

  @Override
  public Future<Change> put(
      String key, long expected, byte[] value, long ttlMillis, Eviction eviction) {
    return propose.apply(new Command.Put(name, key, expected, value, ttlMillis, eviction));
  }

  @Override
  public Future<Change> remove(String key, long expected) {
    return propose.apply(new Command.Remove(name, key, expected));
  }

  @Override
  public Future<Item> get(String key) {
    return propose.apply(new Look()).map(applied -> cached(key));
  }

  @Override
  public Future<Map<String, Item>> all() {
    return propose.apply(new Look()).map(applied -> cached());
  }

  @Override
  public Item cached(String key) {
    return state.tables().get(name, key, state.millis());
  }

  @Override
  public Map<String, Item> cached() {
    return state.tables().all(name, state.millis());
  }

  @Override
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  /** Notifies the listeners that the map may have changed. */
  void notifyListeners() {
    listeners.forEach(Runnable::run);
  }
}
