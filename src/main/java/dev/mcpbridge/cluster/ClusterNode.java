package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.Command.Join;
import dev.mcpbridge.cluster.Command.Leave;
import dev.mcpbridge.cluster.Command.Release;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.agreement.Entry;
import dev.mcpbridge.cluster.agreement.Message.Signed;
import dev.mcpbridge.cluster.agreement.Replica;
import dev.mcpbridge.cluster.agreement.Terms;
import dev.mcpbridge.cluster.link.Identity;
import dev.mcpbridge.cluster.link.Links;
import dev.mcpbridge.config.ClusterConfig;
import dev.mcpbridge.model.InstanceId;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;

/**
 * A node of a cluster: connects the replicated state with the links between nodes and the clock.
 * Confined to the event loop that opened it.
 */
public final class ClusterNode implements Cluster, ClusterState.StateListener, Links.Listener {
  private static final Logger LOG = System.getLogger(ClusterNode.class.getName());
  private static final long ORIGIN_NANOS = System.nanoTime() - TimeUnit.HOURS.toNanos(1);

  private final Vertx vertx;
  private final ClusterConfig config;
  private final Terms terms;
  private final Identity identity;
  private final Links links;
  private final ClusterState state;
  private final Ownership ownership;
  private final Replica replica;
  private final PendingCommands pendingCommands;
  private final Map<String, ReplicatedMap> maps = new HashMap<>();
  private final LeaseState leaseState;
  private final String ownName = UUID.randomUUID().toString();
  private String url = "";
  private PeerListener peerListener;
  private Promise<Void> nextChange = Promise.promise();
  private OwnershipListener ownershipListener;

  /** The instances that this node may run while it has a lease, for other threads. */
  private volatile Set<InstanceId> runnable = Set.of();

  private boolean isLeaving;
  private boolean isChangePending;
  private long lastJoinNanos;
  private long ticks;
  private long timer;

  public ClusterNode(Vertx vertx, ClusterConfig config, String version, int maxMessage) {
    this.vertx = vertx;
    this.config = config;
    this.terms =
        new Terms(config.members().size(), TimeUnit.MILLISECONDS.toNanos(config.leaseMillis()));
    this.identity =
        new Identity(
            config.name(),
            config.members(),
            config.slot(),
            config.node(),
            version,
            System.currentTimeMillis() * 1000);
    this.state = new ClusterState(this);
    this.ownership = new Ownership(state, config.slot(), identity.incarnation());
    this.links = new Links(vertx, identity, ClusterSockets.options(config, maxMessage), this);
    this.replica =
        new Replica(
            terms,
            config.slot(),
            identity.incarnation(),
            links,
            state,
            RandomGenerator.getDefault());
    this.pendingCommands = new PendingCommands(replica, config.slot());
    this.leaseState = new LeaseState(terms, now());
  }

  @Override
  public Future<Void> open(String address) {
    Promise<Void> opened = Promise.promise();
    vertx.runOnContext(
        v -> {
          url = address;
          links.open().onSuccess(listening -> startTicking()).onComplete(opened);
        });
    return opened.future();
  }

  private void startTicking() {
    timer = vertx.setPeriodic(Math.max(5, config.leaseMillis() / 40), t -> tick());
  }

  private void tick() {
    long now = now();
    replica.tick(now, System.currentTimeMillis());
    pendingCommands.failExpired(now);
    watchLease(now);
    declareLostMembers(now);
    joinIfUnknown(now);
    if (++ticks % 8 == 0) {
      changed();
    }
    if (ticks % 40 == 0 && !ownership.assigned().containsAll(ownership.owned())) {
      moved();
    }
  }

  private void watchLease(long now) {
    switch (leaseState.update(replica.leaseUntil(now), now)) {
      case ACQUIRED -> {
        LOG.log(Level.INFO, "node={0} lease acquired", config.node());
        changed();
        moved();
      }
      case LOST -> {
        LOG.log(Level.WARNING, "node={0} lease lost, stopping all servers", config.node());
        if (ownershipListener != null) {
          ownershipListener.stopAll();
        }
      }
      case NONE -> {
        // no change
      }
    }
  }

  private void declareLostMembers(long now) {
    for (Member member : List.copyOf(state.members())) {
      byte[] command = new Leave(member.slot(), member.incarnation()).toBytes();
      if (replica.declare(member.slot(), command, now)) {
        LOG.log(Level.WARNING, "node={0} declared lost", member.name());
      }
    }
  }

  /** Proposes a join until the shared state has the current description of this node. */
  private void joinIfUnknown(long now) {
    boolean isDue = now - lastJoinNanos >= terms.leaseNanos() / 3;
    if (ownershipListener == null || !hasLease() || !isDue) {
      return;
    }
    Member self = self();
    boolean isCurrent = state.member(config.slot()).filter(self::equals).isPresent();
    boolean hasLeft = isLeaving && state.member(config.slot()).isEmpty();
    if (!isCurrent && !hasLeft) {
      lastJoinNanos = now;
      propose(new Join(self, ownName));
    }
  }

  private Member self() {
    return Member.of(identity, config.labels(), url, ownership.offered(), isLeaving);
  }

  private Future<Change> propose(Command command) {
    return pendingCommands.make(command, now());
  }

  private boolean hasLease() {
    return replica.leaseUntil(now()) > now();
  }

  /** A monotonic clock that is always positive, so that zero is in the past. */
  private static long now() {
    return System.nanoTime() - ORIGIN_NANOS;
  }

  // --- Cluster

  @Override
  public boolean isAlone() {
    return false;
  }

  @Override
  public int slot() {
    return config.slot();
  }

  @Override
  public long incarnation() {
    return identity.incarnation();
  }

  @Override
  public String bridge() {
    return state.bridge();
  }

  @Override
  public boolean isAlive(int slot, long life) {
    return state.member(slot).filter(member -> member.incarnation() == life).isPresent();
  }

  @Override
  public String name() {
    return config.node();
  }

  @Override
  public int owner(InstanceId instanceId) {
    int owner = ownership.owner(instanceId);
    return owner == THIS_NODE && !hasLease() ? NO_OWNER : owner;
  }

  @Override
  public BooleanSupplier mayRun(InstanceId instanceId) {
    BooleanSupplier mayAct = mayAct();
    return () -> runnable.contains(instanceId) && mayAct.getAsBoolean();
  }

  @Override
  public OwnershipView owners() {
    return ownership;
  }

  @Override
  public boolean fits(List<String> placement) {
    return config.labels().containsAll(placement);
  }

  @Override
  public SharedMap map(String name) {
    return maps.computeIfAbsent(name, unused -> new ReplicatedMap(name, state, this::propose));
  }

  @Override
  public String name(int slot) {
    return state.member(slot).map(Member::name).orElse(config.members().get(slot));
  }

  @Override
  public Future<Void> offer(Set<InstanceId> instances, OwnershipListener listener) {
    ownership.offer(instances);
    runnable = ownership.assigned();
    ownershipListener = listener;
    lastJoinNanos = 0;
    joinIfUnknown(now());
    return Future.succeededFuture();
  }

  @Override
  public Set<InstanceId> assigned() {
    return leaseState.isOver() ? Set.of() : ownership.assigned();
  }

  @Override
  public Set<InstanceId> owned() {
    return ownership.owned();
  }

  @Override
  public void stopped(InstanceId instanceId) {
    Optional<OwnerEpoch> released = ownership.release(instanceId);
    runnable = ownership.assigned();
    released.ifPresent(
        owner ->
            propose(new Release(instanceId, owner.slot(), owner.incarnation(), owner.epoch())));
  }

  @Override
  public Future<Void> leave() {
    isLeaving = true;
    lastJoinNanos = 0;
    joinIfUnknown(now());
    Promise<Void> left = Promise.promise();
    leaveWhenReleased(left);
    return left.future();
  }

  private void leaveWhenReleased(Promise<Void> left) {
    boolean isAnnounced = state.member(config.slot()).filter(Member::isLeaving).isPresent();
    if (isAnnounced && ownership.owned().isEmpty()) {
      propose(new Leave(config.slot(), identity.incarnation()))
          .onComplete(
              applied -> {
                replica.resign(now());
                vertx.setTimer(50, t -> left.complete());
              });
    } else if (leaseState.isOver()) {
      left.complete();
    } else {
      change().onComplete(changed -> leaveWhenReleased(left));
    }
  }

  @Override
  public Future<Void> change() {
    return nextChange.future();
  }

  @Override
  public Future<byte[]> ask(int slot, String address, byte[] body, long timeoutMillis) {
    return links.ask(slot, address, body, timeoutMillis);
  }

  @Override
  public void tell(int slot, String topic, byte[] body) {
    links.tell(slot, topic, body);
  }

  @Override
  public void tellAll(String topic, byte[] body) {
    links.nodes().keySet().forEach(slot -> links.tell(slot, topic, body));
  }

  @Override
  public void serve(PeerListener listener) {
    peerListener = listener;
  }

  @Override
  public View view() {
    int primary = replica.primary();
    return new View(
        stateName(),
        config.node(),
        primary < 0 ? null : name(primary),
        List.copyOf(state.members()),
        replica.view(),
        state.moves());
  }

  private String stateName() {
    boolean isMember =
        ownershipListener != null && hasLease() && state.member(config.slot()).isPresent();
    return isLeaving ? "leaving" : isMember ? "member" : leaseState.stateWithoutLease();
  }

  @Override
  public BooleanSupplier mayAct() {
    return () -> leaseState.until() > now();
  }

  @Override
  public boolean isCutOff() {
    return leaseState.isLongOver(now());
  }

  @Override
  public Future<Void> close() {
    vertx.cancelTimer(timer);
    return links.close();
  }

  // --- ClusterState

  @Override
  public void applied(Entry entry, String map, Change change) {
    pendingCommands.applied(entry, change);
    if (change != null && change.isDone() && maps.containsKey(map)) {
      maps.get(map).notifyListeners();
    }
  }

  @Override
  public void moved() {
    runnable = ownership.assigned();
    if (!isChangePending) {
      isChangePending = true;
      vertx.runOnContext(
          v -> {
            isChangePending = false;
            changed();
            if (ownershipListener != null) {
              ownershipListener.changed();
            }
          });
    }
  }

  @Override
  public void restored() {
    maps.values().forEach(ReplicatedMap::notifyListeners);
  }

  private void changed() {
    Promise<Void> change = nextChange;
    nextChange = Promise.promise();
    change.complete();
  }

  // --- Links

  @Override
  public void up(int slot, String node) {
    changed();
    if (peerListener != null) {
      peerListener.connected(slot, node);
    }
  }

  @Override
  public void down(int slot) {
    changed();
  }

  @Override
  public void agreement(Signed message) {
    replica.receive(message, now());
  }

  @Override
  public void news(int slot, String topic, byte[] body) {
    if (peerListener != null) {
      peerListener.onMessage(slot, topic, body);
    }
  }

  @Override
  public void question(int slot, String address, byte[] body, BiConsumer<byte[], byte[]> answer) {
    peerListener.onRequest(slot, address, body, answer);
  }
}
