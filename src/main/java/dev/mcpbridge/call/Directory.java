package dev.mcpbridge.call;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import io.vertx.core.Future;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Every server as it was last published, so that a call is resolved without asking anybody. Only a
 * server that has no catalogue yet is asked, and waited for.
 */
public final class Directory {
  private final Bus bus;
  private final Cluster cluster;
  private final Map<ServerId, ServerView> views;

  /** All nodes list them alike, whichever they heard of first. */
  public Directory(Bus bus, Cluster cluster) {
    this.bus = bus;
    this.cluster = cluster;
    this.views =
        cluster.isAlone()
            ? new LinkedHashMap<>()
            : new TreeMap<>(Comparator.comparing(ServerId::name));
  }

  /** Begins to listen; called once, before the servers start. */
  public void open() {
    bus.subscribe(Addresses.SERVER_CHANGED, this::changed);
    bus.subscribe(Addresses.SERVER_FORGOTTEN, views::remove);
  }

  /**
   * What an earlier owner still has to say comes too late. Where all began anew, by a clock that is
   * behind, epochs may be lower than before: the owner is listened to all the same.
   */
  private void changed(ServerView view) {
    ServerView known = views.get(view.id());
    long epoch = view.residence().epoch();
    boolean isOfTheOwner = epoch == cluster.owners().epoch(view.id().name());
    if (known == null || isOfTheOwner || epoch >= known.residence().epoch()) {
      views.put(view.id(), view);
    }
  }

  /** All servers as last published. */
  public Collection<ServerView> all() {
    return List.copyOf(views.values());
  }

  /** Whether there is such a server. */
  public boolean isKnown(ServerId id) {
    return views.containsKey(id);
  }

  /** One server as last published; fails with SERVER_NOT_FOUND, or with NO_QUORUM. */
  public Future<ServerView> find(ServerId id) {
    ServerView view = views.get(id);
    return view == null ? Future.failedFuture(unknown(id)) : Future.succeededFuture(view);
  }

  /** One server with its counters as they are now. */
  public Future<ServerView> current(ServerId id) {
    return find(id)
        .compose(
            view ->
                bus.request(Addresses.view(id), id)
                    .map(now -> now.isDiscovered() ? now : now.withCatalogue(view.catalogue()))
                    .recover(e -> Future.succeededFuture(view)));
  }

  /** A server whose catalogue is known; waits for its first start, as long as a call may take. */
  public Future<ServerView> discovered(ServerId id) {
    ServerView view = views.get(id);
    if (view == null) {
      return Future.failedFuture(unknown(id));
    }
    if (view.isDiscovered()) {
      return Future.succeededFuture(view);
    }
    if (view.state() instanceof ServerState.Refused refused) {
      return Future.failedFuture(new BridgeException(refused.code(), refused.reason()));
    }
    long patience = view.timeouts().call();
    return bus.request(Addresses.ready(id), patience);
  }

  /** A node that has just started has heard of none yet. */
  private BridgeException unknown(ServerId id) {
    if (!cluster.isAlone() && List.of("joining", "cut_off").contains(cluster.view().state())) {
      return new BridgeException(
              ErrorCode.NO_QUORUM,
              "This node has not heard from more than half of the others, and not of server '"
                  + id
                  + "'")
          .withRetryAfter(2_000);
    }
    return new BridgeException(
        ErrorCode.SERVER_NOT_FOUND, "Server '" + id + "' not found or not connected");
  }
}
