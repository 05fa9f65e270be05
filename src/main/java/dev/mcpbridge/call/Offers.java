package dev.mcpbridge.call;

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
import java.util.function.Supplier;

/**
 * Makes offers, and keeps the last of each kind as long as no catalogue in it changes. Confined to
 * its verticle.
 */
public final class Offers {
  private static final long PATIENCE_MILLIS = 5_000;

  private final Vertx vertx;
  private final Directory directory;
  private final Map<Object, Kept> kept = new HashMap<>();

  private record Kept(List<Catalogue> madeOf, Offer offer) {}

  public Offers(Vertx vertx, Directory directory) {
    this.vertx = vertx;
    this.directory = directory;
  }

  /** One server's; waits for its first start. Fails with SERVER_NOT_FOUND. */
  public Future<Offer> of(ServerId id) {
    return directory.discovered(id).map(view -> keep(id, List.of(view), () -> Offer.of(view)));
  }

  /** That of all servers; waits some seconds for those that are starting, and then goes without. */
  public Future<Offer> ofAll() {
    List<Future<ServerView>> awaited =
        directory.all().stream()
            .filter(view -> !view.isDiscovered() && !(view.state() instanceof ServerState.Refused))
            .map(view -> directory.discovered(view.id()))
            .toList();
    if (awaited.isEmpty()) {
      return Future.succeededFuture(now());
    }
    Future<Void> late = vertx.timer(PATIENCE_MILLIS).mapEmpty();
    return Future.any(Future.join(awaited).otherwiseEmpty(), late).map(done -> now());
  }

  /** That of the servers whose lists are known. */
  public Offer now() {
    Collection<ServerView> views = directory.all();
    return keep("all", views, () -> Offer.ofAll(views));
  }

  private Offer keep(Object key, Collection<ServerView> views, Supplier<Offer> make) {
    List<Catalogue> catalogues =
        views.stream().filter(ServerView::isDiscovered).map(ServerView::catalogue).toList();
    Kept last = kept.get(key);
    if (last == null || !isSame(last.madeOf(), catalogues)) {
      kept.keySet().removeIf(old -> old instanceof ServerId id && !directory.isKnown(id));
      last = new Kept(catalogues, make.get());
      kept.put(key, last);
    }
    return last.offer();
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
