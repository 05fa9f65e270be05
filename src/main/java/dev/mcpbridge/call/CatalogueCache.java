package dev.mcpbridge.call;

import dev.mcpbridge.limit.TimeLimit;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Creates catalogues and caches the last of each kind until a catalogue of a server in it changes.
 * Confined to its verticle.
 */
public final class CatalogueCache {
  /** How long a list waits for servers that start with the bridge, or because of the list. */
  private static final long START_MILLIS = 5_000;

  private static final long WAIT_MILLIS = 100;

  private final Directory directory;
  private final LeanDiscovery lean;
  private final long openedNanos = System.nanoTime();
  private final Map<Object, CachedCatalogue> cached = new HashMap<>();

  private record CachedCatalogue(List<Catalogue> sources, ToolCatalogue toolCatalogue) {
    /** Compares the objects: a changed catalogue is a new one. */
    boolean isOf(List<Catalogue> current) {
      return sources.size() == current.size()
          && IntStream.range(0, current.size()).allMatch(i -> sources.get(i) == current.get(i));
    }
  }

  public CatalogueCache(Vertx vertx, Directory directory) {
    this.directory = directory;
    this.lean = new LeanDiscovery(vertx);
  }

  /** The search over these catalogues. */
  public LeanDiscovery lean() {
    return lean;
  }

  /** The catalogue of one server. Waits for its first start. Fails with SERVER_NOT_FOUND. */
  public Future<ToolCatalogue> of(ServerId id) {
    return directory
        .discovered(id)
        .map(view -> cache(id, List.of(view), () -> ToolCatalogue.of(view)));
  }

  /**
   * The catalogue of all servers. It waits 100 ms for servers that are starting and then omits
   * them. The wait is longer, at most five seconds, while the bridge itself is starting, and for a
   * lazy server that this request starts.
   */
  public Future<ToolCatalogue> ofAll() {
    List<Future<Void>> awaited =
        directory.all().stream()
            .filter(view -> !view.isDiscovered() && !(view.state() instanceof ServerState.Refused))
            .map(this::awaited)
            .toList();
    return awaited.isEmpty()
        ? Future.succeededFuture(now())
        : Future.join(awaited).map(done -> now());
  }

  private Future<Void> awaited(ServerView view) {
    boolean isLazyStart = view.state() instanceof ServerState.Stopped;
    long openMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - openedNanos);
    long timeoutMillis =
        isLazyStart ? START_MILLIS : Math.max(WAIT_MILLIS, START_MILLIS - openMillis);
    return TimeLimit.of(timeoutMillis, directory.discovered(view.id())).otherwiseEmpty().mapEmpty();
  }

  /** The catalogue of all servers that have been discovered. */
  public ToolCatalogue now() {
    Collection<ServerView> views = directory.all();
    return cache("all", views, () -> ToolCatalogue.ofAll(views));
  }

  private ToolCatalogue cache(
      Object key, Collection<ServerView> views, Supplier<ToolCatalogue> make) {
    List<Catalogue> catalogues =
        views.stream().filter(ServerView::isDiscovered).map(ServerView::catalogue).toList();
    CachedCatalogue last = cached.get(key);
    if (last == null || !last.isOf(catalogues)) {
      cached.keySet().removeIf(old -> old instanceof ServerId id && !directory.exists(id));
      last = new CachedCatalogue(catalogues, make.get());
      cached.put(key, last);
    }
    return last.toolCatalogue();
  }
}
