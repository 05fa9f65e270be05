package dev.mcpbridge.call;

import dev.mcpbridge.bus.Address;
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
import dev.mcpbridge.pins.Pins;
import dev.mcpbridge.pins.ServerJudgement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The servers, merged from the views that their instances published, so that calls are resolved
 * locally. Only a server without a catalogue is queried, and waited for.
 */
public final class Directory {
  private final Bus bus;
  private final Cluster cluster;
  private final Pins pins;
  private final PinReports pinReports;

  /** Without the definitions that are held. */
  private final Map<ServerId, ServerView> views;

  private final Map<ServerId, TreeMap<InstanceId, ServerView>> parts = new HashMap<>();

  /** In a cluster servers are sorted by name, so that all nodes list them in the same order. */
  public Directory(Bus bus, Cluster cluster, Pins pins) {
    this.bus = bus;
    this.cluster = cluster;
    this.pins = pins;
    this.pinReports = new PinReports(bus);
    this.views =
        cluster.isAlone()
            ? new LinkedHashMap<>()
            : new TreeMap<>(Comparator.comparing(ServerId::name));
  }

  /** Subscribes to the views. Called once, before the servers start. */
  public void open() {
    bus.subscribe(Addresses.INSTANCE_CHANGED, this::onChanged);
    bus.subscribe(Addresses.INSTANCE_STOPPED, this::onStopped);
    bus.subscribe(Addresses.SERVER_REMOVED, this::onForgotten);
    pins.onChange(this::judgeAgain);
  }

  /**
   * Ignores late views of an earlier owner. After a restart of all nodes with a clock that is
   * behind, epochs may be lower than before; the current owner is accepted regardless.
   */
  private void onChanged(ServerView view) {
    InstanceId instanceId = view.instances().get(0);
    TreeMap<InstanceId, ServerView> instances =
        parts.computeIfAbsent(view.id(), id -> new TreeMap<>());
    long epoch = epoch(view);
    if (!instances.containsKey(instanceId)
        || epoch == cluster.owners().epoch(instanceId)
        || epoch >= epoch(instances.get(instanceId))) {
      instances.put(instanceId, view);
      publish(view.id(), instances);
    }
  }

  private static long epoch(ServerView part) {
    return part.locations().get(0).epoch();
  }

  private void onStopped(InstanceStopped instanceStopped) {
    InstanceId instanceId =
        new InstanceId(instanceStopped.server(), instanceStopped.from().instance());
    TreeMap<InstanceId, ServerView> instances =
        parts.getOrDefault(instanceId.server(), new TreeMap<>());
    if (instances.size() > 1 && instances.containsKey(instanceId)) {
      dropWhenReleased(instanceId, instances.get(instanceId));
    }
  }

  /** Drops instances that no longer exist because the server has fewer instances than before. */
  private void dropWhenReleased(InstanceId instanceId, ServerView last) {
    TreeMap<InstanceId, ServerView> instances = parts.get(instanceId.server());
    if (instances == null || instances.get(instanceId) != last) {
      return;
    }
    if (cluster.owners().instances(instanceId.server()).contains(instanceId)) {
      cluster.change().onComplete(changed -> dropWhenReleased(instanceId, last));
    } else {
      publish(instanceId.server(), instances);
    }
  }

  private void publish(ServerId id, TreeMap<InstanceId, ServerView> instances) {
    Collection<InstanceId> owned = cluster.owners().instances(id);
    if (instances.size() > 1 && instances.keySet().stream().anyMatch(owned::contains)) {
      instances.keySet().retainAll(owned);
    }
    show(ServerView.of(List.copyOf(instances.values())));
  }

  /** Offers a server without what is held of it. */
  private void show(ServerView whole) {
    Optional<ServerJudgement> judgement = pins.judge(whole);
    ServerView shown = judgement.map(ServerJudgement::shown).orElse(whole);
    views.put(whole.id(), shown);
    bus.publishLocally(Addresses.SERVER_CHANGED, shown);
    if (runsHere(whole) && pins.isCurrent()) {
      pinReports.report(pins.rules(whole.id()), whole.id(), judgement);
      judgement.ifPresent(pins::approveTrusted);
    }
  }

  /** Whether this node runs the first instance of a server, so that one node reports about it. */
  private boolean runsHere(ServerView server) {
    return cluster.isAlone() || cluster.owner(server.instances().get(0)) == Cluster.THIS_NODE;
  }

  /** Judges all servers again, by other pins or rules. */
  public void judgeAgain() {
    for (TreeMap<InstanceId, ServerView> instances : List.copyOf(parts.values())) {
      ServerView whole = ServerView.of(List.copyOf(instances.values()));
      if (!pins.isJudged(whole)) {
        show(whole);
      }
    }
  }

  /** A view of a server without what is held of it. */
  private ServerView judged(ServerView whole) {
    return pins.shown(whole);
  }

  private void onForgotten(ServerId id) {
    parts.remove(id);
    views.remove(id);
    pins.forget(id);
    pinReports.forget(id);
  }

  /** All servers as last published. */
  public Collection<ServerView> all() {
    return List.copyOf(views.values());
  }

  /** All servers as last published, with what is held of them. */
  List<ServerView> allWhole() {
    return views.values().stream().map(this::whole).toList();
  }

  /** A server as last published, with what is held of it, if it exists. */
  Optional<ServerView> knownWhole(ServerId id) {
    return known(id).map(this::whole);
  }

  private ServerView whole(ServerView shown) {
    return pins.known(shown.id()).map(ServerJudgement::whole).orElse(shown);
  }

  /** A server as last published, if it exists. */
  public Optional<ServerView> known(ServerId id) {
    return Optional.ofNullable(views.get(id));
  }

  /** Whether the server exists. */
  public boolean exists(ServerId id) {
    return views.containsKey(id);
  }

  /** A server as last published. Fails with SERVER_NOT_FOUND or NO_QUORUM. */
  public Future<ServerView> find(ServerId id) {
    ServerView view = views.get(id);
    return view == null ? Future.failedFuture(notFound(id)) : Future.succeededFuture(view);
  }

  /** A server with its current counters. */
  public Future<ServerView> current(ServerId id) {
    return find(id)
        .compose(
            view ->
                query(id, view.instances())
                    .map(
                        now ->
                            view.isDiscovered()
                                ? now.offering(view.catalogue(), view.identity())
                                : judged(now)));
  }

  /** The instances that this node runs, merged by server, with their current counters. */
  public List<Future<ServerView>> localServers() {
    return views.values().stream()
        .map(
            view ->
                view.instances().stream()
                    .filter(instanceId -> cluster.owner(instanceId) == Cluster.THIS_NODE)
                    .toList())
        .filter(local -> !local.isEmpty())
        .map(local -> query(local.get(0).server(), local).map(this::judged))
        .toList();
  }

  /** An instance that does not respond is returned as last published. */
  private Future<ServerView> query(ServerId id, List<InstanceId> instances) {
    List<Future<ServerView>> each =
        instances.stream()
            .map(
                instanceId ->
                    bus.request(Addresses.view(instanceId), id)
                        .otherwise(parts.get(id).get(instanceId)))
            .toList();
    return Future.join(each).map(all -> ServerView.of(all.list()));
  }

  /**
   * Replaces the processes of a server one instance at a time, so that the others stay available.
   */
  public Future<ServerView> restart(ServerId id) {
    return atEachInstance(id, Addresses::restart);
  }

  /** Forgets the results that are kept of the calls of a server. */
  public Future<ServerView> clearCache(ServerId id) {
    return atEachInstance(id, Addresses::clearCache);
  }

  private Future<ServerView> atEachInstance(
      ServerId id, Function<InstanceId, Address<ServerId, ServerView>> addresses) {
    return find(id)
        .compose(
            view -> {
              List<ServerView> replaced = new ArrayList<>();
              Future<?> last = Future.succeededFuture();
              for (InstanceId instanceId : view.instances()) {
                last =
                    last.compose(before -> bus.request(addresses.apply(instanceId), id))
                        .onSuccess(replaced::add);
              }
              return last.map(done -> judged(ServerView.of(replaced)));
            });
  }

  /** A server with a catalogue. Waits for its first start, at most for the timeout of a call. */
  public Future<ServerView> discovered(ServerId id) {
    ServerView view = views.get(id);
    if (view == null) {
      return Future.failedFuture(notFound(id));
    }
    if (view.isDiscovered()) {
      return Future.succeededFuture(view);
    }
    if (view.state() instanceof ServerState.Refused refused) {
      return Future.failedFuture(new BridgeException(refused.code(), refused.reason()));
    }
    long timeoutMillis = view.timeouts().call();
    return bus.request(Addresses.ready(id), timeoutMillis).map(this::judged);
  }

  /** A node that has just started may not have received the servers yet. */
  BridgeException notFound(ServerId id) {
    if (!cluster.isAlone() && List.of("joining", "cut_off").contains(cluster.view().state())) {
      return new BridgeException(
              ErrorCode.NO_QUORUM,
              "This node is not connected to a majority of the nodes and has no data of server '"
                  + id
                  + "'")
          .withRetryAfter(2_000);
    }
    if (!cluster.isAlone() && cluster.owners().isExpected(id)) {
      return new BridgeException(
              ErrorCode.SERVER_UNAVAILABLE,
              "No node of the cluster has reported the state of server '" + id + "' yet")
          .withRetryAfter(1_000);
    }
    return new BridgeException(
        ErrorCode.SERVER_NOT_FOUND, "Server '" + id + "' not found or not connected");
  }
}
