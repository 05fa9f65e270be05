package dev.mcpbridge.server;

import dev.mcpbridge.bus.Address;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.ServerLogs;
import dev.mcpbridge.config.OAuthConfig;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.oauth.OAuthClient;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.quota.CallerLimits;
import dev.mcpbridge.quota.Quotas;
import dev.mcpbridge.transport.ServerLog;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.TransportFactory;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Owns one upstream server, or one instance of it: registers its addresses, publishes its view, and
 * ends its processes when it is undeployed.
 *
 * <p>Runs on the event loop of HTTP or on worker threads, one at a time ({@code threads.servers}),
 * and never blocks on a pipe or a process (see {@code transport}).
 */
public final class ServerVerticle extends VerticleBase {
  private final Environment environment;
  private final Bus bus;
  private final ServerConfig config;
  private final ServerLog log;
  private final Lease lease;
  private final List<Runnable> registrations = new ArrayList<>();
  private volatile LongSupplier drainMillis;
  private Upstreams upstreams;

  /**
   * What all servers of a bridge have in common.
   *
   * @param credentials where credentials of callers are kept
   */
  public record Environment(
      Bus bus,
      TransportFactory transportFactory,
      StdioTransport.Limits limits,
      BridgeIdentity self,
      OAuthClient.Keeping credentials) {}

  /**
   * The lease under which this node runs the server.
   *
   * @param holdsLease whether it may start a call of the server at this moment
   * @param callerLimits what bounds the calls of each caller
   */
  record Lease(
      InstanceLocation instanceLocation, BooleanSupplier holdsLease, CallerLimits callerLimits) {}

  /**
   * @param log what its processes write to stderr
   * @param drainMillis how long calls in flight may continue when the verticle is undeployed
   */
  ServerVerticle(
      Environment environment,
      ServerConfig config,
      ServerLog log,
      Lease lease,
      LongSupplier drainMillis) {
    this.log = log;
    this.environment = environment;
    this.bus = environment.bus();
    this.config = config;
    this.lease = lease;
    this.drainMillis = drainMillis;
  }

  @Override
  public Future<?> start() {
    ServerId id = config.id();
    InstanceId instanceId = instanceId();
    Instance.InstanceEnvironment instanceEnvironment =
        new Instance.InstanceEnvironment(
            context,
            environment.transportFactory(),
            environment.limits(),
            environment.self(),
            log,
            lease,
            bus.telemetry());
    ViewPublisher publisher = new ViewPublisher(bus, instanceId, log);
    OAuthClient oauth = oauth();
    upstreams = new Upstreams(config, instanceEnvironment, oauth, publisher);
    register(Addresses.call(id).at(instanceId), this::call);
    if (config.sandboxPool() != null && !config.sandboxPool().isPerCall()) {
      register(Addresses.isolated(id).at(instanceId), upstreams::callInContainer);
    }
    register(Addresses.ready(id).at(instanceId), upstreams::ready);
    if (oauth != null && instanceId.number() == 1) {
      registrations.addAll(new ConsentRequests(id, oauth, upstreams::consentGiven).serve(bus));
    }
    register(Addresses.view(instanceId), unused -> view());
    register(
        ServerLogs.at(instanceId),
        query ->
            Future.succeededFuture(
                query.after() == 0
                    ? log.last(query.limit())
                    : log.after(query.after(), query.limit())));
    register(Addresses.restart(instanceId), unused -> upstreams.restart(drainMillis.getAsLong()));
    register(Addresses.clearCache(instanceId), unused -> upstreams.clearCache());
    register(Addresses.watch(instanceId), upstreams::watch);
    bus.subscribe(
        Addresses.CONVERSATION_ENDED, c -> upstreams.endConversation(c, drainMillis.getAsLong()));
    bus.subscribe(Addresses.NODE_CONNECTED, slot -> publisher.publishAgain(upstreams.view()));
    upstreams.open();
    return Future.succeededFuture();
  }

  private OAuthClient oauth() {
    OAuthConfig settings = config.upstreamTarget().oauth();
    return settings == null
        ? null
        : new OAuthClient(
            vertx, config.id(), config.upstreamTarget().url(), settings, environment.credentials());
  }

  private Future<JsonSlice> call(Call call) {
    Quotas quotas = lease.callerLimits().quotas();
    return quotas.within(Quotas.Place.OWNER, call, () -> upstreams.call(call));
  }

  /** The view, including the calls that wait for a container in another verticle of this node. */
  private Future<ServerView> view() {
    ServerView view = upstreams.view();
    return config.sandboxPool() != null && config.sandboxPool().isPerCall()
        ? bus.request(Addresses.waiting(instanceId()), config.id())
            .map(view::plusQueued)
            .otherwise(view)
        : Future.succeededFuture(view);
  }

  private <Q, A> void register(Address<Q, A> address, Function<Q, Future<A>> handler) {
    registrations.add(bus.serve(address, handler));
  }

  /** The instance that this verticle runs. */
  private InstanceId instanceId() {
    return new InstanceId(config.id(), lease.instanceLocation().instance());
  }

  private InstanceStopped stopped() {
    return new InstanceStopped(config.id(), lease.instanceLocation());
  }

  /** Cancels calls in flight at once when the verticle is undeployed. */
  void skipDraining() {
    drainMillis = () -> 0;
  }

  @Override
  public Future<?> stop() {
    return upstreams
        .close(drainMillis.getAsLong())
        .onComplete(
            gone -> {
              registrations.forEach(Runnable::run);
              bus.publish(Addresses.INSTANCE_STOPPED, stopped());
            });
  }
}
