package dev.mcpbridge.pins;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.pins.LockFile.Content;
import dev.mcpbridge.pins.PinRecords.Source;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The pins of all servers: in a map that the nodes share, and in a lock file beside the
 * configuration of each node, which a person may edit or replace at any time. A change of the file
 * is applied to the map as an edit; a change of the map is written to the file. Confined to the
 * event loop.
 */
public final class PinStore {
  private static final Logger LOG = System.getLogger(PinStore.class.getName());
  private static final long FILE_MILLIS = 1_000;
  private static final long CLUSTER_MILLIS = 100;

  private final Vertx vertx;
  private final SharedMap map;
  private final Cluster cluster;
  private final LockFile file;
  private final PinRecords records;
  private final List<Runnable> listeners = new ArrayList<>();

  /** What the file held when it was last read or written. */
  private Content known = Content.NONE;

  /** The pins of servers as they were last read from the map. */
  private final Map<String, Parsed> parsed = new HashMap<>();

  /** The versions of the map that the file has. */
  private Map<String, Long> written = Map.of();

  private boolean isMerged;
  private boolean wasCurrent;
  private Future<Void> synchronizing = Future.succeededFuture();
  private boolean isStale;
  private String lastFailure;

  private record Parsed(long version, ServerPins pins) {}

  /**
   * @param map a map that holds nothing else
   * @param file null to keep pins in the map only
   * @param records of what is decided
   */
  public PinStore(Vertx vertx, SharedMap map, Cluster cluster, Path file, PinRecords records) {
    this.vertx = vertx;
    this.map = map;
    this.cluster = cluster;
    this.file = file == null ? null : new LockFile(file);
    this.records = records;
  }

  /** Reads the file, and keeps file and map the same from then on. Fails if it is invalid. */
  public Future<Void> open() {
    map.onChange(this::changed);
    if (!cluster.isAlone()) {
      vertx.setPeriodic(CLUSTER_MILLIS, t -> watchCluster());
    }
    if (file == null) {
      isMerged = true;
      return Future.succeededFuture();
    }
    return read()
        .compose(
            content -> {
              vertx.setPeriodic(FILE_MILLIS, t -> synchronizeSoon());
              return hasMap() ? apply(content) : Future.succeededFuture();
            });
  }

  /** Registers a listener for changes of any pins. */
  void onChange(Runnable listener) {
    listeners.add(listener);
  }

  private void changed() {
    listeners.forEach(Runnable::run);
    synchronizeSoon();
  }

  /** The file is merged as soon as this node is a member. */
  private void watchCluster() {
    if (!isMerged && hasMap()) {
      synchronizeSoon();
    }
    if (wasCurrent != isCurrent()) {
      wasCurrent = isCurrent();
      listeners.forEach(Runnable::run);
    }
  }

  /** Whether the pins of the file and of the other nodes have arrived. */
  boolean isCurrent() {
    return isMerged && hasMap();
  }

  private boolean hasMap() {
    return cluster.isAlone() || cluster.view().state().equals("member");
  }

  /** Changes with the pins of a server. */
  long version(ServerId server) {
    return map.cached(server.name()).version();
  }

  /** The pins of a server; null if it was never seen. */
  ServerPins of(ServerId server) {
    return pins(server.name(), map.cached(server.name()));
  }

  private ServerPins pins(String server, Item item) {
    if (!item.isPresent()) {
      parsed.remove(server);
      return null;
    }
    Parsed last = parsed.get(server);
    if (last == null || last.version() != item.version()) {
      last = new Parsed(item.version(), ServerPins.of(item.value()));
      parsed.put(server, last);
    }
    return last.pins();
  }

  /**
   * Replaces the pins of a server.
   *
   * @param version the version that they replace
   */
  Future<Change> put(ServerId server, long version, ServerPins pins) {
    return replace(server, version, pins, Source.CALLER);
  }

  /**
   * @param after null to forget the server
   */
  private Future<Change> replace(ServerId server, long version, ServerPins after, Source source) {
    ServerPins before = of(server);
    Future<Change> changed =
        after == null ? map.remove(server.name(), version) : store(server, version, after);
    return changed.onSuccess(
        change -> {
          if (change.isDone()) {
            records.replaced(server, before, after, source);
          }
        });
  }

  private Future<Change> store(ServerId server, long version, ServerPins pins) {
    return map.put(server.name(), version, pins.toBytes(), Long.MAX_VALUE, Eviction.NEVER);
  }

  // --- the file

  /** Completes when all changes so far are in the file, or could not be written. */
  public Future<Void> written() {
    return synchronizing;
  }

  /** One at a time; changes meanwhile are taken by the next. */
  private void synchronizeSoon() {
    isStale = true;
    if (file != null && hasMap() && synchronizing.isComplete()) {
      synchronizing = synchronize().onComplete(done -> report(done.cause())).otherwiseEmpty();
    }
  }

  private Future<Void> synchronize() {
    isStale = false;
    return read()
        .compose(content -> apply(content).compose(applied -> write(content.text() == null)))
        .compose(written -> isStale ? synchronize() : Future.succeededFuture());
  }

  private Future<Content> read() {
    Content before = known;
    return vertx.executeBlocking(() -> file.read(before), false);
  }

  /**
   * A file that is missing is written again: its loss is not meant as an approval of what comes
   * next.
   */
  private Future<Void> apply(Content content) {
    boolean isEdited = content != known && content.text() != null;
    if (isMerged && !isEdited) {
      return Future.succeededFuture();
    }
    Set<ServerId> servers = new HashSet<>(content.pins().keySet());
    servers.addAll(known.pins().keySet());
    List<Future<Boolean>> applied =
        servers.stream().map(server -> apply(server, content.pins().get(server))).toList();
    return Future.all(applied)
        .compose(
            done -> {
              if (applied.stream().allMatch(Future::result)) {
                if (!isMerged && content.text() != null) {
                  records.loaded(content);
                }
                known = content;
                written = Map.of();
                isMerged = true;
                listeners.forEach(Runnable::run);
              }
              return Future.succeededFuture();
            });
  }

  /**
   * In a cluster the later decision counts, since other nodes may write the same file.
   *
   * @param edited null if it is not in the file any longer
   */
  private Future<Boolean> apply(ServerId server, ServerPins edited) {
    Item item = map.cached(server.name());
    ServerPins present = pins(server.name(), item);
    boolean isEdit = isMerged && cluster.isAlone();
    if (edited == null && (!isEdit || present == null)) {
      return Future.succeededFuture(true);
    }
    if (edited == null) {
      return replace(server, item.version(), null, Source.LOCK_FILE).map(Change::isDone);
    }
    ServerPins base = present == null ? ServerPins.NONE : present;
    ServerPins before = known.pins().getOrDefault(server, ServerPins.NONE);
    ServerPins after = isEdit ? base.edited(before, edited) : base.merged(edited);
    if (after.equals(present)) {
      return Future.succeededFuture(true);
    }
    boolean isLoading = !isMerged && present == null; // which is recorded for the whole file
    Future<Change> changed =
        isLoading
            ? store(server, item.version(), after)
            : replace(server, item.version(), after, Source.LOCK_FILE);
    return changed.map(Change::isDone);
  }

  private Future<Void> write(boolean isMissing) {
    Map<String, Item> items = map.cached();
    Map<String, Long> versions = new HashMap<>();
    items.forEach((server, item) -> versions.put(server, item.version()));
    if (!isMerged || versions.equals(written) && !isMissing) {
      return Future.succeededFuture();
    }
    Map<ServerId, ServerPins> pins = LockText.sorted();
    items.forEach((server, item) -> pins.put(new ServerId(server), pins(server, item)));
    if (isMissing ? pins.isEmpty() : pins.equals(known.pins())) {
      written = versions;
      return Future.succeededFuture();
    }
    Content before = known;
    return vertx
        .executeBlocking(() -> file.write(pins, before), false)
        .map(
            content -> {
              known = content;
              written = content.stamp() == null ? written : versions;
              isStale |= content.stamp() == null;
              return null;
            });
  }

  private void report(Throwable failure) {
    String message = failure == null ? null : failure.toString();
    if (failure != null && !message.equals(lastFailure)) {
      LOG.log(
          Level.WARNING, "pins are not in step with {0}: {1}", file.path(), failure.getMessage());
    }
    lastFailure = message;
  }
}
