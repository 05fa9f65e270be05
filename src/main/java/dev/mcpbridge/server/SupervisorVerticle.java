package dev.mcpbridge.server;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.EventLoop.Deployment;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.config.ProcessTarget;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.limit.TimeLimit;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.quota.CallerLimits;
import dev.mcpbridge.transport.Orphans;
import dev.mcpbridge.transport.ServerLog;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.VerticleBase;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Deploys a {@link ServerVerticle} for each instance that this node owns, replaces and removes
 * them, by comparing the instances that should run on this node with those that do. Servers of the
 * configuration and of the API coexist; a reload only affects the former.
 */
public final class SupervisorVerticle extends VerticleBase implements Cluster.OwnershipListener {
  /** The pool of worker threads that servers share, with {@code threads.servers: worker}. */
  public static final String WORKER_POOL = "mcp-servers";

  private static final Logger LOG = System.getLogger(SupervisorVerticle.class.getName());

  private static final DeploymentOptions ON_WORKERS =
      new DeploymentOptions()
          .setThreadingModel(ThreadingModel.WORKER)
          .setWorkerPoolName(WORKER_POOL);

  /**
   * How long a server that was reported is kept while the cluster does not know it here: its owner
   * reports a new one only once, and its registration may arrive after the report.
   */
  private static final long UNREGISTERED_MILLIS = 30_000;

  /** The same for one that ends: its report has arrived after its removal. */
  private static final long REMOVED_MILLIS = 1_000;

  private static final long LEAVE_MILLIS = 2_000;

  private final Bus bus;
  private final Cluster cluster;
  private final CallerLimits callerLimits;
  private final ServerVerticle.Environment environment;
  private final ServerExtensions serverExtensions;
  private final boolean usesWorkers;
  private final SharedMap shared;
  private final ServerDefinitions serverDefinitions = new ServerDefinitions();
  private final ApiServers apiServers;
  private final Map<InstanceId, DeployedServer> deployed = new LinkedHashMap<>();
  private final Map<InstanceId, Future<Void>> ending = new LinkedHashMap<>();
  private final Set<ServerId> published = new HashSet<>();

  /** Published servers that the cluster does not know here yet, or no longer knows. */
  private final Set<ServerId> unregistered = new HashSet<>();

  private Map<ServerId, ServerConfig> desired = Map.of();
  private Future<Void> leaving = Future.succeededFuture();
  private volatile BridgeConfig config;
  private boolean comparing;
  private boolean compareAgain;
  private boolean closing;

  /**
   * @param config the configuration of the whole server
   * @param verticles its deployments in the order of their creation
   */
  private record DeployedServer(
      ServerConfig config, ServerVerticle verticle, List<Future<Deployment>> verticles) {

    Future<Deployment> started() {
      return verticles.get(verticles.size() - 1);
    }
  }

  /**
   * What the supervisor uses.
   *
   * @param callerLimits what bounds the calls of each caller
   */
  public record Dependencies(
      Cluster cluster,
      CallerLimits callerLimits,
      ServerVerticle.Environment environment,
      ServerExtensions serverExtensions) {}

  public SupervisorVerticle(Dependencies dependencies, BridgeConfig config) {
    this.callerLimits = dependencies.callerLimits();
    this.environment = dependencies.environment();
    this.bus = environment.bus();
    this.cluster = dependencies.cluster();
    this.config = config;
    this.serverExtensions = dependencies.serverExtensions();
    this.usesWorkers = config.threads().serversOnWorkers();
    this.shared = cluster.map("servers");
    this.apiServers = new ApiServers(bus, cluster, shared, serverDefinitions, new Local());
  }

  @Override
  public Future<?> start() {
    bus.serve(Addresses.START_SERVER, apiServers::start);
    bus.serve(Addresses.STOP_SERVER, apiServers::stop);
    if (!cluster.isAlone()) {
      bus.subscribe(Addresses.INSTANCE_CHANGED, this::onPublished);
    }
    serverDefinitions.read(config.servers(), config);
    shared.onChange(this::offer);
    offer();
    return settled();
  }

  @Override
  public Future<?> stop() {
    closing = true;
    return endAll().compose(ended -> TimeLimit.of(LEAVE_MILLIS, leaving).otherwiseEmpty());
  }

  /** Stops the servers of this node so that others can start them. Waits at most the timeout. */
  public Future<Void> handOver(Duration timeout) {
    Promise<Void> done = Promise.promise();
    if (context == null || cluster.isAlone()) {
      return Future.succeededFuture();
    }
    context.runOnContext(
        v -> {
          leaving = cluster.leave();
          TimeLimit.of(timeout.toMillis(), leaving).otherwiseEmpty().onComplete(done);
        });
    return done.future();
  }

  /** Applies a new configuration. Servers with unchanged entries are not touched. */
  public Future<Void> reload(BridgeConfig newConfig) {
    Promise<Void> promise = Promise.promise();
    context.runOnContext(v -> apply(newConfig).onComplete(promise));
    return promise.future();
  }

  private Future<Void> apply(BridgeConfig newConfig) {
    config = newConfig;
    serverDefinitions.read(newConfig.servers(), newConfig);
    LOG.log(Level.INFO, "configuration reloaded: servers={0}", newConfig.servers().keySet());
    List<Future<Change>> restored = new ArrayList<>();
    shared
        .cached()
        .forEach(
            (name, item) -> {
              if (item.value().length == 0 && serverDefinitions.isFromFile(new ServerId(name))) {
                restored.add(shared.remove(name, item.version()));
              }
            });
    offer();
    return Future.join(restored).otherwiseEmpty().compose(done -> settled());
  }

  /** Declares to the cluster which instances this node can run. */
  private void offer() {
    desired = serverDefinitions.wanted(shared.cached());
    Set<InstanceId> runnable = new LinkedHashSet<>();
    desired.forEach(
        (id, server) -> {
          if (cluster.fits(server.placement())) {
            runnable.addAll(InstanceId.all(id, placedUnits(server)));
          }
        });
    cluster.offer(runnable, this);
  }

  /** The number of units that are placed separately: in a cluster each instance is one. */
  private int placedUnits(ServerConfig server) {
    return cluster.isAlone() ? 1 : server.supervision().instances();
  }

  /**
   * Undeploying a verticle that never started completes at once and calls this method again from
   * within the comparison; the comparison is then repeated.
   */
  @Override
  public void changed() {
    compareAgain = true;
    if (comparing) {
      return;
    }
    comparing = true;
    try {
      while (compareAgain) {
        compareAgain = false;
        compare();
      }
    } finally {
      comparing = false;
    }
  }

  private void compare() {
    if (closing) {
      releaseUnused(Set.of());
      return;
    }
    if (hasLostOwnership()) {
      stopAll();
    }
    Map<InstanceId, ServerConfig> target = new LinkedHashMap<>();
    cluster
        .assigned()
        .forEach(instanceId -> target.put(instanceId, desired.get(instanceId.server())));
    List.copyOf(deployed.keySet()).stream()
        .filter(instanceId -> !isSame(deployed.get(instanceId).config(), target.get(instanceId)))
        .forEach(this::undeploy);
    target.forEach(
        (instanceId, server) -> {
          if (server != null && !runs(instanceId)) {
            deploy(instanceId, server);
          }
        });
    releaseUnused(target.keySet());
    publishUnplaced();
    forgetRemoved();
  }

  /**
   * Releases instances that this node owns but neither runs nor should run. Repeated with each
   * comparison until all nodes have applied it.
   */
  private void releaseUnused(Set<InstanceId> target) {
    cluster.owned().stream()
        .filter(instanceId -> !target.contains(instanceId) && !runs(instanceId))
        .forEach(cluster::stopped);
  }

  private boolean runs(InstanceId instanceId) {
    return deployed.containsKey(instanceId) || ending.containsKey(instanceId);
  }

  @Override
  public void stopAll() {
    deployed.values().forEach(running -> running.verticle().skipDraining());
    vertx.executeBlocking(Orphans::killOwn, false);
    endAll();
  }

  /** Whether the other nodes consider this one dead and have taken ownership from it. */
  private boolean hasLostOwnership() {
    return !cluster.isAlone() && !cluster.owned().containsAll(deployed.keySet());
  }

  private static boolean isSame(ServerConfig running, ServerConfig target) {
    return target != null && running.fingerprint().equals(target.fingerprint());
  }

  private void publishUnplaced() {
    desired.forEach(
        (id, server) -> {
          boolean isUnplaced =
              !cluster.fits(server.placement())
                  && !cluster.owners().hasCandidate(id)
                  && !cluster.owners().isOwned(id);
          if (isUnplaced) {
            published.add(id);
            InstanceLocation nowhere =
                new InstanceLocation(1, null, cluster.owners().epoch(InstanceId.first(id)));
            bus.publishLocally(Addresses.INSTANCE_CHANGED, UnplacedServer.view(server, nowhere));
          } else if (cluster.owners().knows(id)) {
            published.add(id);
          }
        });
  }

  private void onPublished(ServerView view) {
    ServerId id = view.id();
    published.add(id);
    if (!cluster.owners().knows(id) && unregistered.add(id)) {
      boolean isEnding =
          view.state() instanceof ServerState.Draining
              || view.state() instanceof ServerState.Stopped;
      vertx.setTimer(
          isEnding ? REMOVED_MILLIS : UNREGISTERED_MILLIS,
          due -> {
            unregistered.remove(id);
            forgetRemoved();
          });
    }
  }

  private void forgetRemoved() {
    unregistered.removeIf(cluster.owners()::knows);
    published.removeIf(
        id -> {
          boolean isOver =
              !desired.containsKey(id)
                  && !unregistered.contains(id)
                  && !cluster.owners().knows(id)
                  && ofServer(id, deployed).isEmpty()
                  && ofServer(id, ending).isEmpty();
          if (isOver) {
            bus.publish(Addresses.SERVER_REMOVED, id);
          }
          return isOver;
        });
  }

  private static <T> List<T> ofServer(ServerId server, Map<InstanceId, T> parts) {
    return parts.entrySet().stream()
        .filter(part -> part.getKey().server().equals(server))
        .map(Map.Entry::getValue)
        .toList();
  }

  private void deploy(InstanceId instanceId, ServerConfig whole) {
    ServerConfig server = cluster.isAlone() ? whole : whole.forInstance(instanceId.number());
    InstanceLocation instanceLocation =
        new InstanceLocation(
            instanceId.number(), cluster.name(), cluster.owners().epoch(instanceId));
    ServerLog log = new ServerLog(Clock.systemUTC(), server.secrets());
    ServerVerticle verticle =
        new ServerVerticle(
            environment,
            server,
            log,
            new ServerVerticle.Lease(instanceLocation, cluster.mayRun(instanceId), callerLimits),
            this::drainMillis);
    List<Future<Deployment>> verticles = new ArrayList<>();
    serverExtensions
        .of(instanceId, server, environment.limits(), log, this::drainMillis)
        .map(extension -> deployed(extension, server))
        .ifPresent(verticles::add);
    verticles.add(deployed(verticle, server));
    verticles.forEach(started -> started.onFailure(failure -> notStarted(instanceId, failure)));
    published.add(server.id());
    deployed.put(instanceId, new DeployedServer(whole, verticle, verticles));
  }

  /** A fault of the bridge or its installation; what fails at the server is a state of it. */
  private void notStarted(InstanceId instanceId, Throwable failure) {
    if (deployed.containsKey(instanceId)) {
      LOG.log(Level.ERROR, "server=" + instanceId + " cannot be managed", failure);
    }
  }

  /**
   * Deploys a verticle of a server. One that is reached over HTTP stays on the event loop, which
   * reads its sockets in any case.
   */
  private Future<Deployment> deployed(VerticleBase verticle, ServerConfig server) {
    boolean hasProcess =
        server.upstreamTarget() instanceof ProcessTarget
            || server.upstreamTarget() instanceof ContainerTarget;
    return usesWorkers && hasProcess
        ? vertx.deployVerticle(verticle, ON_WORKERS).map(id -> () -> vertx.undeploy(id))
        : bus.loop().deploy(verticle);
  }

  /** Undeploys an instance. A new comparison afterwards decides whether to start it again. */
  private void undeploy(InstanceId instanceId) {
    DeployedServer server = deployed.remove(instanceId);
    if (server == null) {
      return;
    }
    Future<Void> end =
        Future.join(
                server.verticles().stream()
                    .map(done -> done.compose(Deployment::undeploy))
                    .toList())
            .<Void>mapEmpty()
            .otherwiseEmpty();
    ending.put(instanceId, end);
    end.onComplete(
        gone -> {
          ending.remove(instanceId, end);
          changed();
        });
  }

  private Future<Void> endAll() {
    List.copyOf(deployed.keySet()).forEach(this::undeploy);
    return Future.join(List.copyOf(ending.values())).<Void>mapEmpty().otherwiseEmpty();
  }

  /** Completes when stopping instances have ended and their successors have started. */
  private Future<Void> settled() {
    List<Future<?>> stopping = new ArrayList<>(ending.values());
    return Future.join(stopping)
        .otherwiseEmpty()
        .compose(
            ended ->
                Future.join(deployed.values().stream().map(DeployedServer::started).toList())
                    .otherwiseEmpty())
        .mapEmpty();
  }

  private long drainMillis() {
    return config.drainMillis();
  }

  /** The servers of this node, for the API. */
  private final class Local implements ApiServers.LocalServers {
    @Override
    public Set<ServerId> servers() {
      return desired.keySet();
    }

    @Override
    public BridgeConfig operator() {
      return config;
    }

    @Override
    public Future<?> deployed(ServerId id) {
      List<DeployedServer> ofServer = ofServer(id, deployed);
      return ofServer.isEmpty()
          ? null
          : Future.any(ofServer.stream().map(DeployedServer::started).toList());
    }

    @Override
    public Future<Void> stopping(ServerId id) {
      List<Future<Void>> ofServer = ofServer(id, ending);
      return ofServer.isEmpty() ? null : Future.join(ofServer).mapEmpty();
    }
  }
}
