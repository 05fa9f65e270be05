package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.Command.Look;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** A map of which each change is a decision of all, and so is each look that has to be exact. */
final class ReplicatedMap implements SharedMap {
  private final String name;
  private final ClusterState state;
  private final Function<Command, Future<Change>> decide;
  private final List<Runnable> listeners = new ArrayList<>();

  ReplicatedMap(String name, ClusterState state, Function<Command, Future<Change>> decide) {
    this.name = name;
    this.state = state;
    this.decide = decide;
  }

  @Override
  public Future<Change> put(String key, long expected, byte[] value, long ttlMillis, Keep keep) {
    return decide.apply(new Command.Put(name, key, expected, value, ttlMillis, keep));
  }

  @Override
  public Future<Change> remove(String key, long expected) {
    return decide.apply(new Command.Remove(name, key, expected));
  }

  @Override
  public Future<Item> get(String key) {
    return decide.apply(new Look()).map(seen -> known(key));
  }

  @Override
  public Future<Map<String, Item>> all() {
    return decide.apply(new Look()).map(seen -> known());
  }

  @Override
  public Item known(String key) {
    return state.tables().get(name, key, state.millis());
  }

  @Override
  public Map<String, Item> known() {
    return state.tables().all(name, state.millis());
  }

  @Override
  public void onChange(Runnable heard) {
    listeners.add(heard);
  }

  /** Something has changed in it, or may have. */
  void heard() {
    listeners.forEach(Runnable::run);
  }
}
