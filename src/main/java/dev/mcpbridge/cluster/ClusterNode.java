package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.Command.Release;
import dev.mcpbridge.cluster.engine.EmbeddedServer;
import dev.mcpbridge.cluster.engine.Engine;
import dev.mcpbridge.cluster.engine.ZooKeeperEngine;
import dev.mcpbridge.cluster.peer.PeerBus;
import dev.mcpbridge.cluster.trust.ClusterKeys;
import dev.mcpbridge.config.ClusterConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
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
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/**
 * A node of a cluster: connects the state in the coordination store with the messages between nodes
 * and the clock. Confined to the event loop that opened it.
 */
public final class ClusterNode implements Cluster, Engine.Listener, PeerBus.Listener {
  private static final Logger LOG = System.getLogger(ClusterNode.class.getName());
  private static final long ORIGIN_NANOS = System.nanoTime() - TimeUnit.HOURS.toNanos(1);
  private static final String MAPS = "maps/";
  private static final String BECOME_VOTER = "cluster.become-voter";
  private static final long VOTER_MILLIS = 10_000;

  private final Vertx vertx;
  private final ClusterConfig config;
  private final ClusterKeys keys;
  private final LeaseTerms terms;
  private final NodeFolder folder;
  private final PeerBus bus;
  private final Bootstrap bootstrap;
  private final ZooKeeperEngine engine;
  private final ClusterState state;
  private final Ownership ownership;
  private final Membership membership;
  private final Map<String, SharedRecords> maps = new HashMap<>();
  private final LeaseState leaseState;
  private final String version;
  private final long incarnation;
  private final AtomicLong stamps = new AtomicLong();
  private final String ownName = UUID.randomUUID().toString();
  private final Callable<Void> preparation;
  private final Callable<Void> folderCheck;
  private String url = "";
  private PeerListener peerListener;
  private Promise<Void> nextChange = Promise.promise();
  private OwnershipListener ownershipListener;

  /** The instances that this node may run while it has a lease, for other threads. */
  private volatile Set<InstanceId> runnable = Set.of();

  private EmbeddedServer server;
  private boolean isLoaded;

  /** Whether this node has been connected to all members since it obtained its lease. */
  private boolean isConnected;

  private boolean isLeaving;
  private boolean hasLeft;
  private boolean isChangePending;
  private long leaseSinceNanos;
  private long lastJoinNanos;
  private long ticks;
  private long timer;

  /**
   * @param maxMessage maximum size of a call or a result in bytes
   */
  public ClusterNode(Vertx vertx, ClusterConfig config, String version, int maxMessage) {
    this.vertx = vertx;
    this.config = config;
    this.version = version;
    this.incarnation = System.currentTimeMillis() * 1000;
    this.terms = new LeaseTerms(TimeUnit.MILLISECONDS.toNanos(config.leaseMillis()));
    this.keys = new ClusterKeys(config.secret());
    this.folder = new NodeFolder(config.folder());
    this.engine =
        new ZooKeeperEngine(
            vertx,
            new ZooKeeperEngine.Options(
                config.zookeeper(),
                "/mcp-bridge/" + config.name(),
                keys.storePassword(),
                keys.seal(),
                (int) Math.max(1_000, 4 * config.leaseMillis())));
    this.bus =
        new PeerBus(
            vertx,
            new PeerBus.Options(
                new PeerBus.Introduction(
                    config.name(),
                    keys.fingerprint(),
                    config.address(),
                    config.node(),
                    incarnation,
                    version),
                config.host(),
                new PeerBus.Certificates(
                    folder.certificate(),
                    folder.authority(),
                    config.tls() == null ? "; cluster.secret may be different there" : ""),
                maxMessage,
                config.leaseMillis(),
                this::slot),
            this);
    this.bootstrap = new Bootstrap(vertx, config, keys, folder, bus);
    this.state = new ClusterState();
    this.ownership = new Ownership(state, this::slot, incarnation);
    this.membership = new Membership(engine, state, terms, ClusterNode::now);
    this.leaseState = new LeaseState(terms, now());
    this.preparation =
        () -> {
          folder.prepare(config, keys);
          return null;
        };
    this.folderCheck =
        () -> {
          folder.warnIfFull();
          return null;
        };
  }

  @Override
  public Future<Void> open(String address) {
    Promise<Void> opened = Promise.promise();
    vertx.runOnContext(
        v -> {
          url = address;
          vertx
              .executeBlocking(preparation, false)
              .compose(prepared -> bus.open())
              .onSuccess(listening -> begin())
              .onComplete(opened);
        });
    return opened.future();
  }

  private void begin() {
    bus.setPeers(config.members());
    engine.open(this);
    timer = vertx.setPeriodic(Math.max(5, config.leaseMillis() / 40), t -> tick());
    if (config.zookeeper() == null) {
      startServer();
    }
  }

  private void startServer() {
    bootstrap
        .start()
        .onSuccess(
            started -> {
              server = started;
              engine.serverStarted(started);
            })
        .onFailure(
            e ->
                LOG.log(
                    Level.ERROR,
                    "the coordination store of this node does not start: {0}",
                    e.toString()));
  }

  private void tick() {
    long now = now();
    membership.renew();
    watchLease(now);
    isConnected |=
        hasLease() && (isConnectedToAll() || now - leaseSinceNanos > 2 * terms.leaseNanos());
    membership.declareLost();
    joinIfUnknown(now);
    if (++ticks % 8 == 0) {
      changed();
    }
    if (ticks % 40 == 0) {
      everySecond();
    }
  }

  private void everySecond() {
    if (!ownership.assigned().containsAll(ownership.owned())) {
      moved();
    }
    if (server != null) {
      server.renewElectionConnections();
    }
    Set<String> others = new TreeSet<>(config.members());
    state.members().forEach(member -> others.add(member.address()));
    bus.setPeers(others);
    boolean isFirst = state.members().stream().allMatch(member -> member.slot() >= slot());
    if (isFirst && hasLease()) {
      maps.values().forEach(SharedRecords::sweep);
    }
  }

  private void watchLease(long now) {
    switch (leaseState.update(membership.leaseUntil(), now)) {
      case ACQUIRED -> {
        LOG.log(Level.INFO, "node={0} lease acquired", config.node());
        isConnected = false;
        leaseSinceNanos = now;
        changed();
        moved();
      }
      case LOST -> {
        LOG.log(Level.WARNING, "node={0} lease lost, stopping all servers", config.node());
        if (ownershipListener != null) {
          ownershipListener.stopAll();
        }
        vertx.executeBlocking(folderCheck, false);
      }
      case NONE -> {
        // no change
      }
    }
  }

  /** Joins, and describes this node again when its description has changed. */
  private void joinIfUnknown(long now) {
    boolean isDue = now - lastJoinNanos >= terms.leaseNanos() / 5;
    boolean canJoin = isLoaded && engine.health().isConnected() && slot() > 0;
    if (ownershipListener == null || !canJoin || !isDue || hasLeft) {
      return;
    }
    if (!membership.isHeld()) {
      membership.identify(slot(), incarnation);
      if (leaseState.isOver() && (listensAtItsAddress() || membership.isFree())) {
        join(now);
      }
    } else if (state.member(slot()).filter(self()::equals).isEmpty()) {
      join(now);
    }
  }

  private void join(long now) {
    lastJoinNanos = now;
    membership
        .join(self(), ownName)
        .onSuccess(
            joined -> {
              if (joined) {
                bootstrap.established();
              } else {
                lastJoinNanos = 0;
              }
            });
  }

  /** A DNS name may still lead others to an earlier process on another machine. */
  private boolean listensAtItsAddress() {
    String host = config.advertisedHost();
    return host.equals("localhost") || host.contains(":") || host.matches("[0-9.]+");
  }

  private Member self() {
    return new Member(
        slot(),
        incarnation,
        config.node(),
        config.address(),
        url,
        version,
        config.labels(),
        List.copyOf(ownership.offered()),
        isLeaving);
  }

  private boolean isConnectedToAll() {
    return state.members().stream()
        .allMatch(member -> member.slot() == slot() || bus.isUp(member.address()));
  }

  private boolean hasLease() {
    return membership.leaseUntil() > now();
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
    return bootstrap.number();
  }

  @Override
  public long incarnation() {
    return incarnation;
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
  public byte[] key(String purpose) {
    return keys.key(purpose);
  }

  @Override
  public SharedMap map(String name) {
    return maps.computeIfAbsent(name, unused -> new SharedRecords(name, engine, stamp()));
  }

  private SharedRecords.Stamp stamp() {
    return new SharedRecords.Stamp(() -> incarnation, stamps::incrementAndGet);
  }

  @Override
  public String name(int slot) {
    return state.member(slot).map(Member::name).orElse("number " + slot);
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
    if (!hasLease()) {
      return; // the state would give it back to this node, again and again
    }
    released.ifPresent(
        owner ->
            membership.propose(
                new Release(instanceId, owner.slot(), owner.incarnation(), owner.epoch())));
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
    boolean isAnnounced = state.member(slot()).filter(Member::isLeaving).isPresent();
    if (isAnnounced && ownership.owned().isEmpty()) {
      hasLeft = true;
      membership.leave().onComplete(over -> left.complete());
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
    return state
        .member(slot)
        .map(member -> bus.ask(member.address(), address, body, timeoutMillis))
        .orElseGet(() -> Future.failedFuture(unknown(slot)));
  }

  private static BridgeException unknown(int slot) {
    return new BridgeException(
            ErrorCode.NODE_UNREACHABLE, "Node number " + slot + " is not a member")
        .withRetryAfter(1_000);
  }

  @Override
  public void tell(int slot, String topic, byte[] body) {
    state.member(slot).ifPresent(member -> bus.tell(member.address(), topic, body));
  }

  @Override
  public void tellAll(String topic, byte[] body) {
    bus.connected().forEach(other -> bus.tell(other, topic, body));
  }

  @Override
  public void serve(PeerListener listener) {
    peerListener = listener;
  }

  @Override
  public View view() {
    Engine.Health health = engine.health();
    return new View(
        stateName(),
        config.node(),
        health.leader() < 1 ? null : name(health.leader()),
        List.copyOf(state.members()),
        health.term(),
        state.moves(),
        engine.voters().values().stream().map(FirstStart::address).toList());
  }

  @Override
  public Future<Void> setVoter(String node, boolean isVoter) {
    if (config.zookeeper() != null) {
      return Voters.refused("The ZooKeeper servers of this cluster are not run by its nodes");
    }
    return isVoter
        ? Voters.member(state.members(), node)
            .map(this::addVoter)
            .orElseGet(() -> Voters.refused("Node '" + node + "' is not a member; start it first"))
        : Voters.remove(engine, state.members(), node);
  }

  /** A node is added by itself. */
  private Future<Void> addVoter(Member member) {
    return member.slot() == slot()
        ? Voters.add(engine, slot(), config.address())
        : bus.ask(member.address(), BECOME_VOTER, new byte[0], VOTER_MILLIS)
            .<Void>mapEmpty()
            .recover(
                e ->
                    Voters.refused(
                        "Node '"
                            + member.name()
                            + "' cannot become a voter now; try again when it is up to date"));
  }

  private String stateName() {
    boolean isMember = isConnected && hasLease() && state.member(slot()).isPresent();
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
    bootstrap.close();
    engine.close();
    EmbeddedServer running = server;
    Future<Void> stopped =
        running == null
            ? Future.succeededFuture()
            : vertx.executeBlocking(
                () -> {
                  running.stop();
                  return null;
                },
                false);
    return stopped.transform(over -> bus.close());
  }

  // --- Engine

  @Override
  public void loaded() {
    isLoaded = true;
    if (config.zookeeper() != null) {
      bootstrap.takeNumber(engine);
    }
    maps.values().forEach(SharedRecords::notifyListeners);
  }

  @Override
  public void changed(String key, Engine.Entry entry) {
    if (key.equals(Membership.STATE) && entry != null) {
      state.restore(entry.value());
      moved();
    } else if (key.startsWith(MAPS)) {
      int end = key.indexOf('/', MAPS.length());
      SharedRecords map = maps.get(key.substring(MAPS.length(), end));
      if (map != null) {
        map.changed(key.substring(end + 1), entry);
        map.notifyListeners();
      }
    }
  }

  /** Members or owners have changed. */
  private void moved() {
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

  private void changed() {
    Promise<Void> change = nextChange;
    nextChange = Promise.promise();
    change.complete();
  }

  // --- PeerBus

  @Override
  public void up(String address, int member, String node) {
    changed();
    if (peerListener != null) {
      peerListener.connected(member, node);
    }
  }

  @Override
  public void down(String address) {
    changed();
  }

  @Override
  public void news(String address, int member, String topic, byte[] body) {
    if (peerListener != null && member > 0) {
      peerListener.onMessage(member, topic, body);
    }
  }

  @Override
  public void question(
      String address, int member, String name, byte[] body, BiConsumer<byte[], byte[]> answer) {
    if (name.equals(BECOME_VOTER)) {
      Voters.add(engine, slot(), config.address())
          .onComplete(
              done -> answer.accept(new byte[0], null), e -> answer.accept(null, new byte[0]));
    } else if (name.equals(Bootstrap.QUESTION)) {
      bootstrap
          .answer(body, engine)
          .onComplete(bytes -> answer.accept(bytes, null), e -> answer.accept(null, new byte[0]));
    } else {
      peerListener.onRequest(member, name, body, answer);
    }
  }
}
