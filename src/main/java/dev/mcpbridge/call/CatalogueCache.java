package dev.mcpbridge.call;

import dev.mcpbridge.access.Rights;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.limit.TimeLimit;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Creates catalogues and caches the last of each kind until a catalogue of a server in it changes.
 * Callers with the same rights share theirs. Confined to its verticle.
 */
public final class CatalogueCache {
  /** How long a list waits for servers that start with the bridge, or because of the list. */
  private static final long START_MILLIS = 5_000;

  private static final long WAIT_MILLIS = 100;
  private static final int MAX_CACHED = 1_000;

  private final Directory directory;
  private final AccessControl access;
  private final LeanDiscovery lean;
  private final long openedNanos = System.nanoTime();
  private final Map<Key, CachedCatalogue> cached = new BoundedMap<>(MAX_CACHED);

  /**
   * @param rights null for a catalogue with everything
   * @param server null for all servers
   */
  private record Key(Rights rights, ServerId server) {}

  /**
   * @param whole the same catalogue with everything; null for that itself
   */
  private record CachedCatalogue(
      List<Catalogue> sources, ToolCatalogue whole, ToolCatalogue toolCatalogue) {
    /** Compares the objects: a changed catalogue is a new one. */
    boolean isOf(List<Catalogue> current, ToolCatalogue currentWhole) {
      return whole == currentWhole && isSame(sources, current);
    }
  }

  public CatalogueCache(Vertx vertx, Directory directory, AccessControl access) {
    this.directory = directory;
    this.access = access;
    this.lean = new LeanDiscovery(vertx);
  }

  /** The search over these catalogues. */
  public LeanDiscovery lean() {
    return lean;
  }

  /** The catalogue of one server. Waits for its first start. Fails with SERVER_NOT_FOUND. */
  public Future<ToolCatalogue> of(Principal caller, ServerId id) {
    return access
        .discovered(caller, id)
        .map(view -> seen(caller, id, directory.knownWhole(id).stream().toList(), List.of(view)));
  }

  /**
   * The catalogue of all servers. It waits 100 ms for servers that are starting and then omits
   * them. The wait is longer, at most five seconds, while the bridge itself is starting, and for a
   * lazy server that this request starts.
   */
  public Future<ToolCatalogue> ofAll(Principal caller) {
    List<Future<Void>> awaited =
        access.all(caller).stream()
            .filter(view -> !view.isDiscovered() && !(view.state() instanceof ServerState.Refused))
            .map(this::awaited)
            .toList();
    return awaited.isEmpty()
        ? Future.succeededFuture(now(caller))
        : Future.join(awaited).map(done -> now(caller));
  }

  private Future<Void> awaited(ServerView view) {
    boolean isLazyStart = view.state() instanceof ServerState.Stopped;
    long openMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - openedNanos);
    long timeoutMillis =
        isLazyStart ? START_MILLIS : Math.max(WAIT_MILLIS, START_MILLIS - openMillis);
    return TimeLimit.of(timeoutMillis, directory.discovered(view.id())).otherwiseEmpty().mapEmpty();
  }

  /** The catalogue of all servers that have been discovered. */
  public ToolCatalogue now(Principal caller) {
    return seen(caller, null, directory.allWhole(), access.all(caller));
  }

  /**
   * The catalogue that a caller sees.
   *
   * @param server null for all servers
   * @param views the servers with everything, and as the caller sees them
   */
  private ToolCatalogue seen(
      Principal caller, ServerId server, Collection<ServerView> views, List<ServerView> seen) {
    ToolCatalogue whole = cache(new Key(null, server), views, null);
    return isSame(catalogues(views), catalogues(seen))
        ? whole
        : cache(new Key(access.rights(caller), server), seen, whole);
  }

  private ToolCatalogue cache(Key key, Collection<ServerView> views, ToolCatalogue whole) {
    List<Catalogue> catalogues = catalogues(views);
    CachedCatalogue last = cached.get(key);
    if (last == null || !last.isOf(catalogues, whole)) {
      ToolCatalogue made =
          key.server() == null
              ? ToolCatalogue.ofAll(views)
              : ToolCatalogue.of(views.iterator().next());
      boolean isTold = whole != null && access.tellsOfUnlisted();
      last = new CachedCatalogue(catalogues, whole, isTold ? made.within(whole) : made);
      cached.put(key, last);
    }
    return last.toolCatalogue();
  }

  private static List<Catalogue> catalogues(Collection<ServerView> views) {
    return views.stream().filter(ServerView::isDiscovered).map(ServerView::catalogue).toList();
  }

  private static boolean isSame(List<Catalogue> one, List<Catalogue> other) {
    return one.size() == other.size()
        && IntStream.range(0, one.size()).allMatch(i -> one.get(i) == other.get(i));
  }
}
