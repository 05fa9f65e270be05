package dev.mcpbridge;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.EventLoop.Deployment;
import dev.mcpbridge.call.InProcess;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.ClusterNode;
import dev.mcpbridge.cluster.ReplicatedText;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ClusterSecret;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigProblem;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.http.HttpVerticle;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.oauth.OAuthClient;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.quota.CallerLimits;
import dev.mcpbridge.quota.Quotas;
import dev.mcpbridge.quota.Urgencies;
import dev.mcpbridge.risk.RiskVerticle;
import dev.mcpbridge.sandbox.Sandboxes;
import dev.mcpbridge.server.ServerVerticle;
import dev.mcpbridge.server.SupervisorVerticle;
import dev.mcpbridge.trace.Telemetry;
import dev.mcpbridge.transport.Orphans;
import dev.mcpbridge.transport.OwnSockets;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.TransportRegistry;
import dev.mcpbridge.webhook.WebhookVerticle;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The lifecycle of a bridge. The gate starts before the listener, and the listener before the
 * servers, so that the API answers while the servers start. They are closed in reverse order.
 *
 * <p>Everything runs on one event loop (see the ADR on threads), except blocking work, which has
 * its own threads.
 */
public final class Bridge {
  private static final Logger LOG = System.getLogger(Bridge.class.getName());

  private final Host host;
  private final BridgeConfig config;
  private volatile BridgeConfig current;
  private final Cluster cluster;
  private final RiskVerticle risk;
  private final HttpVerticle http;
  private final SupervisorVerticle supervisor;
  private final ReplicatedText newestConfiguration;
  private final AtomicBoolean severalCallers;
  private final Bus bus;
  private final Quotas quotas;
  private final Urgencies urgencies;
  private final StateFiles stateFiles;
  private final AuditTrail audit;
  private final AtomicBoolean isClosing = new AtomicBoolean();
  private final Promise<Void> closed = Promise.promise();
  private volatile Deployment servers;

  private Bridge(Host host, BridgeConfig config) {
    this.host = host;
    this.config = config;
    this.current = config;
    Vertx vertx = host.vertx();
    this.cluster = cluster(vertx, config);
    this.severalCallers = new AtomicBoolean(config.hasSeveralCallers());
    this.quotas = new Quotas(config.quotas(), this::nodes);
    this.stateFiles = new StateFiles(vertx, cluster, config, quotas);
    this.urgencies = new Urgencies(config.priorities());
    CallerLimits callerLimits = new CallerLimits(severalCallers::get, quotas, urgencies);
    MemoryBudget memory = new MemoryBudget(config.limits().heldBytes());
    Telemetry telemetry = TraceExport.open(config, cluster.name());
    host.closeAtEnd(telemetry.tracer()::close);
    this.bus = Bus.create(vertx, host.loop(), cluster, telemetry);
    host.closeAtEnd(bus::close);
    this.audit = new AuditTrail(host, bus, config, cluster.name());
    this.newestConfiguration = new ReplicatedText(cluster.map("configuration"));
    this.risk = new RiskVerticle(bus, cluster, config.risk(), severalCallers::get);
    BridgeIdentity self = new BridgeIdentity(Version.current(), cluster::bridge);
    this.http =
        new HttpVerticle(
            new HttpVerticle.Dependencies(bus, cluster, config, callerLimits, self, memory),
            OwnSockets::isOwn);
    Sandboxes sandboxes =
        new Sandboxes(vertx, bus, cluster.mayAct(), callerLimits, config.sandbox(), self);
    TransportRegistry transportRegistry = UpstreamTransports.of(cluster.mayAct(), sandboxes);
    this.supervisor =
        new SupervisorVerticle(
            new SupervisorVerticle.Dependencies(
                cluster,
                callerLimits,
                new ServerVerticle.Environment(
                    bus,
                    transportRegistry,
                    StdioTransport.Limits.of(config.limits(), memory),
                    self,
                    new OAuthClient.Keeping(
                        CredentialStore.of(config.credentials(), cluster),
                        config.credentials().idleMillis(),
                        name -> current.auth().knows(name))),
                sandboxes::of),
            config);
    host.open(config.threads());
    host.beforeEnd(() -> close(Duration.ZERO));
  }

  /** The nodes that share the quotas of callers. */
  private int nodes() {
    return cluster.isAlone() ? 1 : cluster.view().members().size();
  }

  private static Cluster cluster(Vertx vertx, BridgeConfig config) {
    return config.cluster() == null
        ? new SingleNode(Clock.systemUTC())
        : new ClusterNode(
            vertx, config.cluster(), Version.current(), 2 * config.limits().messageBytes());
  }

  /** Starts a bridge. The future fails if the address cannot be bound. */
  public static Future<Bridge> start(BridgeConfig config) {
    return start(vertx(), config);
  }

  /** Starts a bridge on a Vert.x from {@link #vertx}, which it closes at its end. */
  public static Future<Bridge> start(Vertx vertx, BridgeConfig config) {
    return start(Host.own(vertx), config);
  }

  /** Starts a bridge on the Vert.x of another program, on the event loop of the caller. */
  public static Future<Bridge> startWithin(Vertx vertx, BridgeConfig config) {
    Host host = Host.shared(vertx);
    return host.loop().outside(start(host, config));
  }

  /** The promise has no context, since a bridge that fails may end the event loop. */
  private static Future<Bridge> start(Host host, BridgeConfig config) {
    Promise<Bridge> started = Promise.promise();
    host.loop()
        .blocking(() -> new Bridge(host, ClusterSecret.completed(config)))
        .onFailure(failure -> host.close().onComplete(closed -> started.fail(failure)))
        .onSuccess(
            bridge ->
                bridge
                    .open()
                    .onSuccess(opened -> started.complete(bridge))
                    .onFailure(
                        failure -> host.close().onComplete(closed -> started.fail(failure))));
    return started.future();
  }

  /** Creates the Vert.x of a bridge; needs no configuration. */
  public static Vertx vertx() {
    return Host.newVertx();
  }

  /** The bound port. */
  public int port() {
    return http.port();
  }

  /** The URL of the listener; null without one. */
  public String url() {
    return http.url();
  }

  /** The routes of the bridge, for the router of the program that runs it. */
  public Router router() {
    return http.mountable();
  }

  /** How the program that runs the bridge calls its tools. */
  public InProcess inProcess() {
    return http.inProcess();
  }

  /**
   * Applies a configuration, except for the keys in {@link dev.mcpbridge.config.RestartKeys}, which
   * need a restart. May be called from any thread.
   *
   * @throws ConfigException if the listener would be open to other machines without keys
   */
  public Future<Void> reload(BridgeConfig next) {
    requireKeys(next);
    current = next;
    severalCallers.set(config.withAuth(next.auth()).hasSeveralCallers());
    risk.reload(next.risk());
    quotas.reload(next.quotas());
    urgencies.reload(next.priorities());
    return http.reload(next)
        .compose(applied -> supervisor.reload(next))
        .onComplete(applied -> audit.configured(next, applied.succeeded()));
  }

  /** The listener keeps its address, even if a file without keys names a loopback address. */
  private void requireKeys(BridgeConfig next) {
    boolean mayBeOpen = config.http().insecure() || next.http().insecure();
    String objection = config.http().isLoopback() ? null : next.auth().objection(mayBeOpen);
    if (objection != null) {
      throw new ConfigException(
          List.of(
              new ConfigProblem(
                  "auth",
                  "the bridge still listens on "
                      + config.http().host()
                      + " until it is restarted, which "
                      + objection)));
    }
  }

  /**
   * Shares a configuration file with the other nodes, unless they have a newer one.
   *
   * @param millis time of its last change, in milliseconds of the wall clock
   */
  public void shareConfiguration(String file, long millis) {
    host.loop().run(() -> newestConfiguration.offer(file, millis));
  }

  /** The newest shared configuration file; empty if no file was shared. Thread-safe. */
  public Optional<ReplicatedText.Version> newestConfiguration() {
    return newestConfiguration.known();
  }

  /** Waits for running calls up to the timeout, then ends all processes and closes everything. */
  public Future<Void> close(Duration timeout) {
    if (!isClosing.compareAndSet(false, true)) {
      return closed.future();
    }
    http.stopping();
    supervisor
        .handOver(timeout)
        .transform(handed -> http.drain(timeout))
        .transform(drained -> endServers())
        .transform(ended -> host.loop().blocking(Bridge::forgetProcesses))
        .transform(forgotten -> stateFiles.written())
        .transform(ended -> cluster.close())
        .transform(left -> audit.close())
        .transform(ended -> host.close())
        .onComplete(closed);
    return closed.future();
  }

  /** Ends the servers while the sockets and threads that they need for it are still open. */
  private Future<Void> endServers() {
    return host.undeploy(servers);
  }

  private static Void forgetProcesses() {
    Orphans.deleteOwnRecord();
    return null;
  }

  private Future<Void> open() {
    return audit
        .open()
        .compose(opened -> openWebhooks())
        .compose(opened -> host.deploy(risk))
        .compose(deployed -> host.deploy(http))
        .compose(deployed -> stateFiles.keep(http.port()))
        .compose(kept -> host.loop().blocking(Orphans::killOrphans))
        .onSuccess(Bridge::report)
        .compose(orphans -> cluster.open(url()))
        .compose(joined -> host.deploy(supervisor))
        .onSuccess(
            deployed -> {
              servers = deployed;
              http.serversStarting();
            })
        .mapEmpty();
  }

  private Future<?> openWebhooks() {
    return config.webhooks().isEmpty()
        ? Future.succeededFuture()
        : host.deploy(new WebhookVerticle(bus, config.webhooks()));
  }

  private static void report(int orphans) {
    if (orphans > 0) {
      LOG.log(Level.WARNING, "ended {0} orphaned processes of a killed bridge", orphans);
    }
  }
}
