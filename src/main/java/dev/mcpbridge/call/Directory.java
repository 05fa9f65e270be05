package dev.mcpbridge.call;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Every server as its parts were last published, so that a call is resolved without asking anybody.
 * Only a server that has no catalogue yet is asked, and waited for.
 */
public final class Directory {
  private final Bus bus;
  private final Cluster cluster;
  private final Map<ServerId, ServerView> views;
  private final Map<ServerId, TreeMap<InstanceId, ServerView>> parts = new HashMap<>();

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
    bus.subscribe(Addresses.PART_CHANGED, this::changed);
    bus.subscribe(Addresses.PART_GONE, this::gone);
    bus.subscribe(Addresses.SERVER_FORGOTTEN, this::forgotten);
  }

  /**
   * What an earlier owner still has to say comes too late. Where all began anew, by a clock that is
   * behind, epochs may be lower than before: the owner is listened to all the same.
   */
  private void changed(ServerView view) {
    InstanceId instanceId = view.parts().get(0);
    TreeMap<InstanceId, ServerView> known = parts.computeIfAbsent(view.id(), id -> new TreeMap<>());
    long epoch = epoch(view);
    if (!known.containsKey(instanceId)
        || epoch == cluster.owners().epoch(instanceId)
        || epoch >= epoch(known.get(instanceId))) {
      known.put(instanceId, view);
      show(view.id(), known);
    }
  }

  private static long epoch(ServerView part) {
    return part.residences().get(0).epoch();
  }

  private void gone(InstanceStopped instanceStopped) {
    InstanceId instanceId =
        new InstanceId(instanceStopped.server(), instanceStopped.from().instance());
    TreeMap<InstanceId, ServerView> known =
        parts.getOrDefault(instanceId.server(), new TreeMap<>());
    if (known.size() > 1 && known.containsKey(instanceId)) {
      dropWhenNobodyHas(instanceId, known.get(instanceId));
    }
  }

  /** Of a server with fewer instances than before the others are not shown any more. */
  private void dropWhenNobodyHas(InstanceId instanceId, ServerView last) {
    TreeMap<InstanceId, ServerView> known = parts.get(instanceId.server());
    if (known == null || known.get(instanceId) != last) {
      return;
    }
    if (cluster.owners().parts(instanceId.server()).contains(instanceId)) {
      cluster.change().onComplete(changed -> dropWhenNobodyHas(instanceId, last));
    } else {
      show(instanceId.server(), known);
    }
  }

  private void show(ServerId id, TreeMap<InstanceId, ServerView> known) {
    Collection<InstanceId> thereAre = cluster.owners().parts(id);
    if (known.size() > 1 && known.keySet().stream().anyMatch(thereAre::contains)) {
      known.keySet().retainAll(thereAre);
    }
    ServerView whole = ServerView.of(List.copyOf(known.values()));
    views.put(id, whole);
    bus.publishHere(Addresses.SERVER_CHANGED, whole);
  }

  private void forgotten(ServerId id) {
    parts.remove(id);
    views.remove(id);
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
                now(id, view.parts())
                    .map(now -> now.isDiscovered() ? now : now.withCatalogue(view.catalogue())));
  }

  /** What this node runs of each server, with their counters as they are now. */
  public List<Future<ServerView>> here() {
    return views.values().stream()
        .map(
            view ->
                view.parts().stream()
                    .filter(instanceId -> cluster.owner(instanceId) == Cluster.HERE)
                    .toList())
        .filter(own -> !own.isEmpty())
        .map(own -> now(own.get(0).server(), own))
        .toList();
  }

  /** A part that does not say how it is, is as it was. */
  private Future<ServerView> now(ServerId id, List<InstanceId> of) {
    List<Future<ServerView>> each =
        of.stream()
            .map(
                instanceId ->
                    bus.request(Addresses.view(instanceId), id)
                        .otherwise(parts.get(id).get(instanceId)))
            .toList();
    return Future.join(each).map(all -> ServerView.of(all.list()));
  }

  /** Replaces the processes of a server, part by part, so that the others go on meanwhile. */
  public Future<ServerView> restart(ServerId id) {
    return find(id)
        .compose(
            known -> {
              Future<List<ServerView>> replaced = Future.succeededFuture(new ArrayList<>());
              for (InstanceId instanceId : known.parts()) {
                replaced = replaced.compose(before -> restart(instanceId, before));
              }
              return replaced.map(ServerView::of);
            });
  }

  private Future<List<ServerView>> restart(InstanceId instanceId, List<ServerView> before) {
    return bus.request(Addresses.restart(instanceId), instanceId.server())
        .map(
            view -> {
              before.add(view);
              return before;
            });
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
    if (!cluster.isAlone() && cluster.owners().isExpected(id)) {
      return new BridgeException(
              ErrorCode.SERVER_UNAVAILABLE,
              "No node of the cluster has said yet how server '" + id + "' is")
          .withRetryAfter(1_000);
    }
    return new BridgeException(
        ErrorCode.SERVER_NOT_FOUND, "Server '" + id + "' not found or not connected");
  }
}
