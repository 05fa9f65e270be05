package dev.mcpbridge.call;

import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Makes offers, and keeps the last of each kind as long as no catalogue in it changes. Confined to
 * its verticle.
 */
public final class CatalogueCache {
  /** How long a list waits for servers that a start of the bridge, or the list itself, starts. */
  private static final long START_MILLIS = 5_000;

  private static final long PATIENCE_MILLIS = 100;

  private final Vertx vertx;
  private final Directory directory;
  private final long openedNanos = System.nanoTime();
  private final Map<Object, CachedCatalogue> kept = new HashMap<>();

  private record CachedCatalogue(List<Catalogue> madeOf, ToolCatalogue toolCatalogue) {}

  public CatalogueCache(Vertx vertx, Directory directory) {
    this.vertx = vertx;
    this.directory = directory;
  }

  /** One server's; waits for its first start. Fails with SERVER_NOT_FOUND. */
  public Future<ToolCatalogue> of(ServerId id) {
    return directory
        .discovered(id)
        .map(view -> keep(id, List.of(view), () -> ToolCatalogue.of(view)));
  }

  /**
   * That of all servers. Waits a moment for those that are starting, and then goes without: one
   * that is slow or broken costs a list a tenth of a second. It waits longer, five seconds at most,
   * while the bridge itself has just started, and for a lazy server that this list wakes.
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
    boolean isWoken = view.state() instanceof ServerState.Stopped;
    long openMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - openedNanos);
    long patience = isWoken ? START_MILLIS : Math.max(PATIENCE_MILLIS, START_MILLIS - openMillis);
    Promise<Void> over = Promise.promise();
    long timer = vertx.setTimer(patience, t -> over.tryComplete());
    directory.discovered(view.id()).onComplete(done -> over.tryComplete());
    return over.future().onComplete(done -> vertx.cancelTimer(timer));
  }

  /** That of the servers whose lists are known. */
  public ToolCatalogue now() {
    Collection<ServerView> views = directory.all();
    return keep("all", views, () -> ToolCatalogue.ofAll(views));
  }

  private ToolCatalogue keep(
      Object key, Collection<ServerView> views, Supplier<ToolCatalogue> make) {
    List<Catalogue> catalogues =
        views.stream().filter(ServerView::isDiscovered).map(ServerView::catalogue).toList();
    CachedCatalogue last = kept.get(key);
    if (last == null || !isSame(last.madeOf(), catalogues)) {
      kept.keySet().removeIf(old -> old instanceof ServerId id && !directory.isKnown(id));
      last = new CachedCatalogue(catalogues, make.get());
      kept.put(key, last);
    }
    return last.toolCatalogue();
  }

  private static boolean isSame(List<Catalogue> one, List<Catalogue> other) {
    if (one.size() != other.size()) {
      return false;
    }
    for (int i = 0; i < one.size(); i++) {
      if (one.get(i) != other.get(i)) {
        return false;
      }
    }
    return true;
  }
}
