package dev.mcpbridge.call;

import dev.mcpbridge.access.Rights;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.limit.TimeLimit;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.profile.Profiles;
import dev.mcpbridge.profile.Selection;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
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
  private final List<BiConsumer<Profiles, Profiles>> listeners = new ArrayList<>();
  private Profiles profiles;

  /**
   * @param rights null for a catalogue with everything
   */
  private record Key(Rights rights, Selection selection) {}

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

  public CatalogueCache(Vertx vertx, Directory directory, AccessControl access, Profiles profiles) {
    this.profiles = profiles;
    this.directory = directory;
    this.access = access;
    this.lean = new LeanDiscovery(vertx);
  }

  /** The search over these catalogues. */
  public LeanDiscovery lean() {
    return lean;
  }

  /** The profiles that count now. */
  public Profiles profiles() {
    return profiles;
  }

  /** Replaces the profiles, and tells the listeners those before and after. */
  public void reload(Profiles next) {
    if (!next.equals(profiles)) {
      Profiles before = profiles;
      profiles = next;
      cached.clear();
      listeners.forEach(listener -> listener.accept(before, next));
    }
  }

  public void onReload(BiConsumer<Profiles, Profiles> listener) {
    listeners.add(listener);
  }

  /**
   * What an address offers to a caller. One server is waited for until its first start. Of several,
   * those that are starting are waited for 100 ms and then omitted. The wait is longer, at most
   * five seconds, while the bridge itself is starting, and for a lazy server that this request
   * starts.
   *
   * @return fails with SERVER_NOT_FOUND or PROFILE_NOT_FOUND
   */
  public Future<ToolCatalogue> of(Principal caller, Selection selection) {
    ServerId id = selection.server();
    if (id != null) {
      return access
          .discovered(caller, id)
          .map(
              view ->
                  seen(
                      caller,
                      selection,
                      directory.knownWhole(id).stream().toList(),
                      List.of(view)));
    }
    List<Future<Void>> awaited =
        access.all(caller).stream()
            .filter(view -> !view.isDiscovered() && !(view.state() instanceof ServerState.Refused))
            .filter(view -> mayOffer(selection, view.id()))
            .map(this::awaited)
            .toList();
    return awaited.isEmpty()
        ? Future.succeededFuture().map(done -> now(caller, selection))
        : Future.join(awaited).map(done -> now(caller, selection));
  }

  private boolean mayOffer(Selection selection, ServerId server) {
    return selection.profile() == null
        || profiles.find(selection.profile()).filter(each -> each.contains(server)).isPresent();
  }

  private Future<Void> awaited(ServerView view) {
    boolean isLazyStart = view.state() instanceof ServerState.Stopped;
    long openMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - openedNanos);
    long timeoutMillis =
        isLazyStart ? START_MILLIS : Math.max(WAIT_MILLIS, START_MILLIS - openMillis);
    return TimeLimit.of(timeoutMillis, directory.discovered(view.id())).otherwiseEmpty().mapEmpty();
  }

  /**
   * The same, of the servers that have been discovered.
   *
   * @param selection all servers, or a profile
   * @throws BridgeException PROFILE_NOT_FOUND
   */
  public ToolCatalogue now(Principal caller, Selection selection) {
    return seen(
        caller,
        selection,
        offered(selection, directory.allWhole()),
        offered(selection, access.all(caller)));
  }

  private List<ServerView> offered(Selection selection, List<ServerView> views) {
    return selection.profile() == null
        ? views
        : views.stream().filter(view -> mayOffer(selection, view.id())).toList();
  }

  /**
   * The catalogue that a caller sees.
   *
   * @param views the servers with everything, and as the caller sees them
   */
  private ToolCatalogue seen(
      Principal caller, Selection selection, Collection<ServerView> views, List<ServerView> seen) {
    ToolCatalogue whole = cache(new Key(null, selection), views, null);
    return isSame(catalogues(views), catalogues(seen))
        ? whole
        : cache(new Key(access.rights(caller), selection), seen, whole);
  }

  private ToolCatalogue cache(Key key, Collection<ServerView> views, ToolCatalogue whole) {
    List<Catalogue> catalogues = catalogues(views);
    CachedCatalogue last = cached.get(key);
    if (last == null || !last.isOf(catalogues, whole)) {
      ToolCatalogue made = make(key.selection(), views);
      ToolCatalogue part = whole == null ? made : made.within(whole, access.tellsOfUnlisted());
      last = new CachedCatalogue(catalogues, whole, part);
      cached.put(key, last);
    }
    return last.toolCatalogue();
  }

  private ToolCatalogue make(Selection selection, Collection<ServerView> views) {
    if (selection.profile() != null) {
      return ToolCatalogue.of(profiles.get(selection.profile()), views);
    }
    return selection.server() == null
        ? ToolCatalogue.ofAll(views)
        : ToolCatalogue.of(views.iterator().next());
  }

  private static List<Catalogue> catalogues(Collection<ServerView> views) {
    return views.stream().filter(ServerView::isDiscovered).map(ServerView::catalogue).toList();
  }

  private static boolean isSame(List<Catalogue> one, List<Catalogue> other) {
    return one.size() == other.size()
        && IntStream.range(0, one.size()).allMatch(i -> one.get(i) == other.get(i));
  }
}
