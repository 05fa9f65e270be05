package dev.mcpbridge;

import dev.mcpbridge.adapter.openapi.OpenApiTransportFactory;
import dev.mcpbridge.adapter.toolcall.ToolCallTransportFactory;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.ClusterNode;
import dev.mcpbridge.cluster.ReplicatedText;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ClusterSecret;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigProblem;
import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.config.StateFolder;
import dev.mcpbridge.config.ToolCallSource;
import dev.mcpbridge.http.HttpVerticle;
import dev.mcpbridge.http.Rehearsal;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.risk.RiskVerticle;
import dev.mcpbridge.sandbox.SandboxCheck;
import dev.mcpbridge.sandbox.Sandboxes;
import dev.mcpbridge.server.SupervisorVerticle;
import dev.mcpbridge.transport.Orphans;
import dev.mcpbridge.transport.OwnSockets;
import dev.mcpbridge.transport.TransportRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A bridge: started, reloaded, closed. The gate is up before the listener, the listener before the
 * servers, so that the API answers while they start; they are closed in reverse.
 *
 * <p>One event loop carries everything (see the ADR on threads): what blocks has threads of its
 * own.
 */
public final class Bridge {
  private static final Logger LOG = System.getLogger(Bridge.class.getName());

  private final Vertx vertx;
  private final BridgeConfig config;
  private final Cluster cluster;
  private final RiskVerticle risk;
  private final HttpVerticle http;
  private final SupervisorVerticle supervisor;
  private final ReplicatedText newestFile;
  private final EventLoopWatch watch;
  private final AtomicBoolean severalCallers;
  private volatile String servers;

  private Bridge(Vertx vertx, BridgeConfig config) {
    this.vertx = vertx;
    this.config = config;
    this.cluster = cluster(vertx, config);
    this.severalCallers = new AtomicBoolean(config.hasSeveralCallers());
    Counts counts = new Counts();
    MemoryBudget memory = new MemoryBudget(config.limits().heldBytes());
    Bus bus = Bus.create(vertx, cluster, counts);
    this.newestFile = new ReplicatedText(cluster.map("configuration"));
    this.risk = new RiskVerticle(bus, cluster, config.risk(), severalCallers::get);
    BridgeIdentity self = new BridgeIdentity(Version.current(), cluster::bridge);
    this.http =
        new HttpVerticle(
            new HttpVerticle.Dependencies(
                bus, cluster, config, severalCallers::get, self, memory, counts),
            OwnSockets::isOwn);
    Sandboxes sandboxes =
        new Sandboxes(vertx, bus, cluster.mayAct(), severalCallers::get, config.sandbox(), self);
    TransportRegistry transportRegistry =
        new TransportRegistry(
            Map.of(
                ContainerTarget.class, sandboxes.opener(),
                OpenApiSource.class, new OpenApiTransportFactory(cluster.mayAct()),
                ToolCallSource.class, new ToolCallTransportFactory(cluster.mayAct())),
            cluster.mayAct());
    this.supervisor =
        new SupervisorVerticle(
            bus,
            cluster,
            config,
            severalCallers::get,
            memory,
            transportRegistry,
            sandboxes::of,
            self);
    this.watch = EventLoopWatch.of(vertx);
  }

  private static Cluster cluster(Vertx vertx, BridgeConfig config) {
    return config.cluster() == null
        ? new SingleNode(Clock.systemUTC())
        : new ClusterNode(
            vertx, config.cluster(), Version.current(), 2 * config.limits().messageBytes());
  }

  /**
   * Starts a bridge; fails where the address cannot be bound. Blocks where the secret of a cluster
   * is read from a file.
   */
  public static Future<Bridge> start(BridgeConfig config) {
    Vertx vertx = vertx();
    return start(vertx, config)
        .recover(failure -> vertx.close().transform(closed -> Future.failedFuture(failure)));
  }

  /**
   * Starts a bridge on a Vert.x from {@link #vertx}, which it closes with itself. Where the start
   * fails it is left to the caller.
   */
  public static Future<Bridge> start(Vertx vertx, BridgeConfig config) {
    Bridge bridge;
    try {
      bridge = new Bridge(vertx, complete(config));
    } catch (IOException e) {
      return Future.failedFuture(e);
    }
    Promise<Bridge> started = Promise.promise();
    bridge
        .open()
        .onSuccess(id -> started.complete(bridge))
        .onFailure(
            failure -> {
              bridge.watch.close();
              started.fail(failure);
            });
    return started.future();
  }

  private static BridgeConfig complete(BridgeConfig config) throws IOException {
    return config.cluster() == null
        ? config
        : config.withCluster(
            ClusterSecret.complete(config.cluster(), StateFolder.of(System.getenv())));
  }

  /** The port that was bound. */
  public int port() {
    return http.port();
  }

  public String url() {
    String scheme = config.http().tls() == null ? "http" : "https";
    String host =
        config.http().host().contains(":")
            ? "[" + config.http().host() + "]"
            : config.http().host();
    return scheme + "://" + host + ":" + port();
  }

  /**
   * Applies of another configuration what can be applied while the bridge runs; what cannot is what
   * {@link dev.mcpbridge.config.RestartKeys} names. May be called from any thread.
   *
   * @throws ConfigException where the listener as it is would be open to everybody
   */
  public Future<Void> reload(BridgeConfig next) {
    requireKeys(next);
    severalCallers.set(config.withAuth(next.auth()).hasSeveralCallers());
    http.reload(next);
    risk.reload(next.risk());
    return supervisor.reload(next);
  }

  /** A file without keys may name a loopback address, but the listener keeps the one it has. */
  private void requireKeys(BridgeConfig next) {
    boolean isMeantToBeOpen = config.http().insecure() || next.http().insecure();
    if (!config.http().isLoopback() && !isMeantToBeOpen && next.auth().keys().isEmpty()) {
      throw new ConfigException(
          List.of(
              new ConfigProblem(
                  "auth.keys",
                  "the bridge still listens on "
                      + config.http().host()
                      + ", which other machines reach: restart it to apply http.host, or keep the"
                      + " keys")));
    }
  }

  /**
   * Gives the other nodes a configuration file, where they know no newer one.
   *
   * @param millis when it was changed, on the wall clock
   */
  public void share(String file, long millis) {
    vertx.runOnContext(v -> newestFile.offer(file, millis));
  }

  /** The newest configuration file that was shared; empty for none. For any thread. */
  public Optional<ReplicatedText.Version> newestFile() {
    return newestFile.known();
  }

  /** Lets calls end for so long, then ends every process and closes everything. */
  public Future<Void> close(Duration patience) {
    Promise<Void> closed = Promise.promise();
    http.stopping();
    supervisor
        .handOver(patience)
        .transform(handed -> http.drain(patience))
        .transform(drained -> endServers())
        .transform(ended -> vertx.executeBlocking(Bridge::forgetChildren, false))
        .transform(ended -> cluster.close())
        .onComplete(ended -> end().onComplete(closed), failed -> end().onComplete(closed));
    return closed.future();
  }

  private Future<Void> end() {
    watch.close();
    return vertx.close();
  }

  /** While what they need for that, sockets and threads, is still there. */
  private Future<Void> endServers() {
    return servers == null ? Future.succeededFuture() : vertx.undeploy(servers);
  }

  private static Void forgetChildren() {
    Orphans.forgetOwn();
    return null;
  }

  /** Whether calls at risk level 3 would run as they should; blocks. */
  public static SandboxCheck.Report checkSandbox(BridgeConfig config) throws TimeoutException {
    Vertx vertx = vertx();
    try {
      return new SandboxCheck(vertx, config.sandbox())
          .of(config.servers().values())
          .await(5, TimeUnit.MINUTES);
    } finally {
      vertx.close().await(10, TimeUnit.SECONDS);
    }
  }

  /** Loads what the first request needs; blocks. */
  public static void rehearse(Vertx vertx) throws IOException, TimeoutException {
    Rehearsal.play(vertx);
  }

  private Future<String> open() {
    return vertx
        .deployVerticle(risk)
        .compose(id -> vertx.deployVerticle(http))
        .compose(id -> vertx.executeBlocking(Orphans::end, false))
        .onSuccess(Bridge::report)
        .compose(orphans -> cluster.open(url()))
        .compose(joined -> vertx.deployVerticle(supervisor))
        .onSuccess(
            id -> {
              servers = id;
              http.opened();
            });
  }

  private static void report(int orphans) {
    if (orphans > 0) {
      LOG.log(Level.WARNING, "ended {0} processes that a killed bridge had left behind", orphans);
    }
  }

  /** What a bridge runs on; takes a fifth of a start, and knows no configuration. */
  public static Vertx vertx() {
    EventLoopWatch.replaceTimings();
    return Vertx.vertx(
        new VertxOptions()
            .setEventLoopPoolSize(1)
            .setFileSystemOptions(
                new FileSystemOptions()
                    .setFileCachingEnabled(false)
                    .setClassPathResolvingEnabled(false)));
  }
}
