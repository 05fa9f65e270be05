package dev.mcpbridge.cluster.engine;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * A store in memory, and one node's view of it. The copy of a node follows when it is told to, or
 * when the node waits for it.
 */
public final class MemoryEngine implements Engine {
  private final Store store;
  private final Map<String, Entry> copy = new HashMap<>();
  private Listener listener;
  private int followed;
  private boolean isCut;
  private final List<Runnable> unsent = new ArrayList<>();

  /** What the nodes share. */
  public static final class Store {
    private final TreeMap<String, Entry> entries = new TreeMap<>();
    private final List<String> changed = new ArrayList<>();
    private long version;

    public Map<String, Entry> entries() {
      return entries;
    }
  }

  public MemoryEngine(Store store) {
    this.store = store;
  }

  /** From now on nothing reaches the store, until {@link #reconnect}. */
  public void cut() {
    isCut = true;
  }

  /** What was not sent is sent now. */
  public void reconnect() {
    isCut = false;
    List<Runnable> late = List.copyOf(unsent);
    unsent.clear();
    late.forEach(Runnable::run);
    follow();
  }

  /** The copy becomes what the store is. */
  public void follow() {
    while (followed < store.changed.size()) {
      String key = store.changed.get(followed++);
      Entry entry = store.entries.get(key);
      Entry old = entry == null ? copy.remove(key) : copy.put(key, entry);
      if (!Objects.equals(old, entry)) {
        tell(key, entry);
      }
    }
  }

  private void tell(String key, Entry entry) {
    if (listener != null) {
      listener.changed(key, entry);
    }
  }

  @Override
  public void open(Listener newListener) {
    listener = newListener;
    follow();
    listener.loaded();
  }

  @Override
  public Future<Long> commit(List<Change> changes) {
    Promise<Long> promise = Promise.promise();
    Runnable apply = () -> promise.complete(apply(changes));
    if (isCut) {
      unsent.add(apply);
    } else {
      apply.run();
      follow();
    }
    return promise.future();
  }

  private long apply(List<Change> changes) {
    for (Change change : changes) {
      Entry now = store.entries.get(change.key());
      if ((now == null ? ABSENT : now.version()) != change.expected()) {
        return CONFLICT;
      }
    }
    long version = ++store.version;
    for (Change change : changes) {
      if (change.value() == null) {
        store.entries.remove(change.key());
      } else {
        store.entries.put(change.key(), new Entry(change.value(), version, 0));
      }
      store.changed.add(change.key());
    }
    return version;
  }

  @Override
  public Future<Void> fence() {
    follow();
    return Future.succeededFuture();
  }

  @Override
  public Entry get(String key) {
    return copy.get(key);
  }

  @Override
  public Map<String, Entry> children(String prefix) {
    Map<String, Entry> found = new HashMap<>();
    copy.forEach(
        (key, entry) -> {
          if (key.startsWith(prefix)) {
            found.put(key.substring(prefix.length()), entry);
          }
        });
    return found;
  }

  @Override
  public Health health() {
    return new Health(!isCut, 1, 1);
  }

  @Override
  public Map<Integer, String> voters() {
    return Map.of();
  }

  @Override
  public Future<Void> becomeVoter(int number, String server) {
    return Future.failedFuture(new UnsupportedOperationException());
  }

  @Override
  public Future<Void> removeVoter(int number) {
    return Future.failedFuture(new UnsupportedOperationException());
  }

  @Override
  public void close() {
    listener = null;
  }
}
