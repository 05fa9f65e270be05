package dev.mcpbridge.server;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.LimitsConfig;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.transport.Orphans;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.TransportFactory;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Deploys a {@link ServerVerticle} for each part of a server that is wanted and that this node
 * owns, replaces and removes them. It always does the same: compares what should run here with what
 * does. Servers of the configuration and servers of the API live side by side; a reload touches
 * only the former.
 */
public final class SupervisorVerticle extends VerticleBase implements Cluster.OwnershipListener {
  private static final Logger LOG = System.getLogger(SupervisorVerticle.class.getName());
  private static final long LAST_WORDS_MILLIS = 1_000;
  private static final long FAREWELL_MILLIS = 2_000;

  private final Bus bus;
  private final Cluster cluster;
  private final BooleanSupplier severalCallers;
  private final StdioTransport.Limits limits;
  private final TransportFactory transportFactory;
  private final ServerExtensions serverExtensions;
  private final BridgeIdentity self;
  private final SharedMap shared;
  private final ServerDefinitions serverDefinitions = new ServerDefinitions();
  private final ApiServers posted;
  private final Map<InstanceId, DeployedServer> deployed = new LinkedHashMap<>();
  private final Map<InstanceId, Future<Void>> ending = new LinkedHashMap<>();
  private final Set<ServerId> shown = new HashSet<>();
  private Map<ServerId, ServerConfig> wanted = Map.of();
  private Future<Void> left = Future.succeededFuture();
  private BridgeConfig config;
  private boolean comparing;
  private boolean isToCompare;
  private boolean closing;

  /**
   * @param config of the whole server
   * @param verticles its deployments, in the order in which they were made
   */
  private record DeployedServer(
      ServerConfig config, ServerVerticle verticle, List<Future<String>> verticles) {

    Future<String> isThere() {
      return verticles.get(verticles.size() - 1);
    }
  }

  /**
   * @param severalCallers whether callers can be told apart, at this moment
   */
  public SupervisorVerticle(
      Bus bus,
      Cluster cluster,
      BridgeConfig config,
      BooleanSupplier severalCallers,
      MemoryBudget memory,
      TransportFactory transportFactory,
      ServerExtensions serverExtensions,
      BridgeIdentity self) {
    this.severalCallers = severalCallers;
    this.bus = bus;
    this.cluster = cluster;
    this.config = config;
    this.limits = limits(config.limits(), memory);
    this.transportFactory = transportFactory;
    this.serverExtensions = serverExtensions;
    this.self = self;
    this.shared = cluster.map("servers");
    this.posted = new ApiServers(bus, cluster, shared, serverDefinitions, new Local());
  }

  @Override
  public Future<?> start() {
    bus.serve(Addresses.START_SERVER, posted::start);
    bus.serve(Addresses.STOP_SERVER, posted::stop);
    if (!cluster.isAlone()) {
      bus.subscribe(Addresses.PART_CHANGED, view -> heardOf(view.id()));
    }
    serverDefinitions.read(config.servers(), config);
    shared.onChange(this::offer);
    offer();
    return settled();
  }

  @Override
  public Future<?> stop() {
    closing = true;
    return endAll().compose(ended -> within(FAREWELL_MILLIS, left));
  }

  /** Done when something is, or when it was waited for long enough. */
  private Future<Void> within(long millis, Future<Void> awaited) {
    Promise<Void> over = Promise.promise();
    long timer = vertx.setTimer(Math.max(1, millis), t -> over.tryComplete());
    awaited.onComplete(
        done -> {
          vertx.cancelTimer(timer);
          over.tryComplete();
        });
    return over.future();
  }

  /** Stops what runs here, so that other nodes can start it; takes no longer than it may. */
  public Future<Void> handOver(Duration patience) {
    Promise<Void> handed = Promise.promise();
    if (context == null || cluster.isAlone()) {
      return Future.succeededFuture();
    }
    context.runOnContext(
        v -> {
          left = cluster.leave();
          within(patience.toMillis(), left).onComplete(handed);
        });
    return handed.future();
  }

  /** Applies another configuration; servers whose entries did not change are not touched. */
  public Future<Void> reload(BridgeConfig next) {
    Promise<Void> promise = Promise.promise();
    context.runOnContext(v -> apply(next).onComplete(promise));
    return promise.future();
  }

  private Future<Void> apply(BridgeConfig next) {
    ServerPlan plan = ServerPlan.of(serverDefinitions.ofFile(), next.servers());
    config = next;
    serverDefinitions.read(next.servers(), next);
    if (!plan.isEmpty()) {
      LOG.log(Level.INFO, "configuration reloaded: {0}", plan);
    }
    List<Future<Change>> back = new ArrayList<>();
    shared
        .known()
        .forEach(
            (name, item) -> {
              if (item.value().length == 0 && serverDefinitions.isFromFile(new ServerId(name))) {
                back.add(shared.remove(name, item.version()));
              }
            });
    offer();
    return Future.join(back).otherwiseEmpty().compose(done -> settled());
  }

  /** Tells the other nodes what this one can run, and gets to know what it is to run. */
  private void offer() {
    wanted = serverDefinitions.wanted(shared.known());
    Set<InstanceId> able = new LinkedHashSet<>();
    wanted.forEach(
        (id, server) -> {
          if (cluster.fits(server.placement())) {
            able.addAll(InstanceId.all(id, places(server)));
          }
        });
    cluster.offer(able, this);
  }

  /** Where there are other nodes each instance is by itself, so that they can be spread. */
  private int places(ServerConfig server) {
    return cluster.isAlone() ? 1 : server.supervision().instances();
  }

  /** What was never deployed ends within a comparison, which is then made once more after it. */
  @Override
  public void changed() {
    isToCompare = true;
    if (comparing) {
      return;
    }
    comparing = true;
    try {
      while (isToCompare) {
        isToCompare = false;
        compare();
      }
    } finally {
      comparing = false;
    }
  }

  private void compare() {
    if (closing) {
      releaseWhatDoesNotRun(Set.of());
      return;
    }
    if (wasTakenAway()) {
      stopAll();
    }
    Map<InstanceId, ServerConfig> target = new LinkedHashMap<>();
    cluster.mine().forEach(instanceId -> target.put(instanceId, wanted.get(instanceId.server())));
    List.copyOf(deployed.keySet()).stream()
        .filter(instanceId -> !isSame(deployed.get(instanceId).config(), target.get(instanceId)))
        .forEach(this::undeploy);
    target.forEach(
        (instanceId, server) -> {
          if (server != null && !runs(instanceId)) {
            deploy(instanceId, server);
          }
        });
    releaseWhatDoesNotRun(target.keySet());
    showWhatRunsNowhere();
    forgetWhatIsWantedNoMore();
  }

  /** What this node has and neither runs nor is to run; said again until all know it. */
  private void releaseWhatDoesNotRun(Set<InstanceId> target) {
    cluster.held().stream()
        .filter(instanceId -> !target.contains(instanceId) && !runs(instanceId))
        .forEach(cluster::stopped);
  }

  private boolean runs(InstanceId instanceId) {
    return deployed.containsKey(instanceId) || ending.containsKey(instanceId);
  }

  @Override
  public void stopAll() {
    deployed.values().forEach(running -> running.verticle().hurry());
    vertx.executeBlocking(Orphans::endOwn, false);
    endAll();
  }

  /** Others believe that this node is gone: what runs here has no owner, or another one. */
  private boolean wasTakenAway() {
    return !cluster.isAlone() && !cluster.held().containsAll(deployed.keySet());
  }

  private static boolean isSame(ServerConfig running, ServerConfig target) {
    return target != null && running.fingerprint().equals(target.fingerprint());
  }

  private void showWhatRunsNowhere() {
    wanted.forEach(
        (id, server) -> {
          boolean isHomeless =
              !cluster.fits(server.placement())
                  && !cluster.owners().hasCandidate(id)
                  && !cluster.owners().isOwned(id);
          if (isHomeless) {
            shown.add(id);
            InstanceLocation nowhere =
                new InstanceLocation(1, null, cluster.owners().epoch(InstanceId.first(id)));
            bus.publishHere(Addresses.PART_CHANGED, UnplacedServer.view(server, nowhere));
          } else if (cluster.owners().knows(id)) {
            shown.add(id);
          }
        });
  }

  /** The last words of a server may come after everybody has forgotten it. */
  private void heardOf(ServerId id) {
    shown.add(id);
    if (!cluster.owners().knows(id)) {
      vertx.setTimer(LAST_WORDS_MILLIS, t -> forgetWhatIsWantedNoMore());
    }
  }

  private void forgetWhatIsWantedNoMore() {
    shown.removeIf(
        id -> {
          boolean isOver =
              !wanted.containsKey(id)
                  && !cluster.owners().knows(id)
                  && here(id, deployed).isEmpty()
                  && here(id, ending).isEmpty();
          if (isOver) {
            bus.publish(Addresses.SERVER_FORGOTTEN, id);
          }
          return isOver;
        });
  }

  private static <T> List<T> here(ServerId server, Map<InstanceId, T> parts) {
    return parts.entrySet().stream()
        .filter(part -> part.getKey().server().equals(server))
        .map(Map.Entry::getValue)
        .toList();
  }

  private void deploy(InstanceId instanceId, ServerConfig whole) {
    ServerConfig server = cluster.isAlone() ? whole : whole.instance(instanceId.number());
    InstanceLocation instanceLocation =
        new InstanceLocation(
            instanceId.number(), cluster.name(), cluster.owners().epoch(instanceId));
    ServerVerticle verticle =
        new ServerVerticle(
            bus,
            server,
            transportFactory,
            limits,
            self,
            new ServerVerticle.Lease(
                instanceLocation, () -> cluster.owner(instanceId) == Cluster.HERE, severalCallers),
            this::drainMillis);
    List<Future<String>> verticles = new ArrayList<>();
    serverExtensions
        .of(instanceId, server, limits, this::drainMillis)
        .map(vertx::deployVerticle)
        .ifPresent(verticles::add);
    verticles.add(vertx.deployVerticle(verticle));
    shown.add(server.id());
    deployed.put(instanceId, new DeployedServer(whole, verticle, verticles));
  }

  /** Ends it here, if it is still there; what it is then comes out by comparing again. */
  private void undeploy(InstanceId instanceId) {
    DeployedServer server = deployed.remove(instanceId);
    if (server == null) {
      return;
    }
    Future<Void> end =
        Future.join(server.verticles().stream().map(done -> done.compose(vertx::undeploy)).toList())
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

  /** What was begun here is over: ends first, then what came in their place. */
  private Future<Void> settled() {
    List<Future<?>> open = new ArrayList<>(ending.values());
    return Future.join(open)
        .otherwiseEmpty()
        .compose(
            ended ->
                Future.join(deployed.values().stream().map(DeployedServer::isThere).toList())
                    .otherwiseEmpty())
        .mapEmpty();
  }

  private long drainMillis() {
    return config.drainMillis();
  }

  private static StdioTransport.Limits limits(LimitsConfig config, MemoryBudget memory) {
    int message = config.messageBytes();
    return new StdioTransport.Limits(message, config.depth() + 10, 2 * message, memory);
  }

  /** What runs here, for those who start and stop servers over the API. */
  private final class Local implements ApiServers.LocalServers {
    @Override
    public Set<ServerId> wanted() {
      return wanted.keySet();
    }

    @Override
    public BridgeConfig operator() {
      return config;
    }

    @Override
    public Future<?> begun(ServerId id) {
      List<DeployedServer> here = here(id, deployed);
      return here.isEmpty()
          ? null
          : Future.any(here.stream().map(DeployedServer::isThere).toList());
    }

    @Override
    public Future<Void> ending(ServerId id) {
      List<Future<Void>> here = here(id, ending);
      return here.isEmpty() ? null : Future.join(here).mapEmpty();
    }
  }
}
