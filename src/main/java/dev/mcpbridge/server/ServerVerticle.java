package dev.mcpbridge.server;

import dev.mcpbridge.bus.Address;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.bus.Addresses.ResourceUpdate;
import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.model.BridgeEvent;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.quota.CallerLimits;
import dev.mcpbridge.quota.Quotas;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.TransportFactory;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
  private static final int MAX_WARNINGS = 5;
  private static final Logger LOG = System.getLogger(ServerVerticle.class.getName());

  private final Bus bus;
  private final ServerConfig config;
  private final TransportFactory transportFactory;
  private final StdioTransport.Limits limits;
  private final BridgeIdentity self;
  private final Lease lease;
  private final List<Runnable> registrations = new ArrayList<>();
  private volatile LongSupplier drainMillis;
  private Upstreams upstreams;

  /**
   * The lease under which this node runs the server.
   *
   * @param holdsLease whether it may start a call of the server at this moment
   * @param callerLimits what bounds the calls of each caller
   */
  record Lease(
      InstanceLocation instanceLocation, BooleanSupplier holdsLease, CallerLimits callerLimits) {}

  /**
   * @param drainMillis how long calls in flight may continue when the verticle is undeployed
   */
  public ServerVerticle(
      Bus bus,
      ServerConfig config,
      TransportFactory transportFactory,
      StdioTransport.Limits limits,
      BridgeIdentity self,
      Lease lease,
      LongSupplier drainMillis) {
    this.bus = bus;
    this.config = config;
    this.transportFactory = transportFactory;
    this.limits = limits;
    this.self = self;
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
            transportFactory,
            limits,
            self,
            lease.instanceLocation(),
            lease.holdsLease(),
            lease.callerLimits().severalCallers());
    Publisher publisher = new Publisher();
    upstreams = new Upstreams(config, instanceEnvironment, publisher);
    register(Addresses.call(id).at(instanceId), this::call);
    if (config.sandboxPool() != null && !config.sandboxPool().isPerCall()) {
      register(Addresses.isolated(id).at(instanceId), upstreams::callInContainer);
    }
    register(Addresses.ready(id).at(instanceId), upstreams::ready);
    register(Addresses.view(instanceId), unused -> view());
    register(Addresses.restart(instanceId), unused -> upstreams.restart(drainMillis.getAsLong()));
    register(Addresses.watch(instanceId), upstreams::watch);
    bus.subscribe(
        Addresses.CONVERSATION_ENDED, c -> upstreams.endConversation(c, drainMillis.getAsLong()));
    bus.subscribe(Addresses.NODE_CONNECTED, slot -> publisher.publishAgain(upstreams.view()));
    upstreams.open();
    return Future.succeededFuture();
  }

  private Future<JsonSlice> call(Call call) {
    return lease
        .callerLimits()
        .quotas()
        .within(Quotas.Place.OWNER, call, () -> upstreams.call(call));
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

  private final class Publisher implements Upstream.Listener {
    private String lastState = "";
    private String lastDigest = "";

    /** Publishes the view again for a node that has just connected. */
    void publishAgain(ServerView view) {
      bus.publish(Addresses.INSTANCE_CHANGED, view);
    }

    @Override
    public void changed(ServerView view) {
      bus.publish(Addresses.INSTANCE_CHANGED, view);
      publishState(view);
      publishCatalogue(view);
    }

    @Override
    public void callEvent(Call call, String name, JsonSlice params) {
      bus.publish(Addresses.callEvents(call.id()), new CallEvent(name, params));
    }

    @Override
    public void resourceUpdated(String conversation, String uri, JsonSlice params) {
      bus.publish(
          Addresses.RESOURCE_UPDATED, new ResourceUpdate(config.id(), conversation, uri, params));
    }

    @Override
    public Future<JsonSlice> serverRequest(Call call, ServerRequest serverRequest) {
      return bus.request(Addresses.clientRequest(call.id()), serverRequest);
    }

    private void publishState(ServerView view) {
      if (!lastState.equals(view.state().apiName())) {
        lastState = view.state().apiName();
        log(view);
        JsonWriter event =
            new JsonWriter()
                .beginObject()
                .member("server", view.id().name())
                .member("state", lastState);
        addInstance(event);
        if (view.lastError() != null) {
          event.member("last_error", view.lastError().reason());
        }
        publishEvent("server", event.endObject());
      }
    }

    private void log(ServerView view) {
      boolean failed =
          view.state() instanceof ServerState.Failed
              || view.state() instanceof ServerState.Degraded;
      LOG.log(
          failed ? Level.WARNING : Level.INFO,
          () ->
              "server="
                  + instanceId()
                  + " state="
                  + lastState
                  + " pids="
                  + view.pids()
                  + (failed ? " reason=" + view.lastError().describe() : ""));
    }

    private void publishCatalogue(ServerView view) {
      if (view.isDiscovered() && !lastDigest.equals(view.catalogue().digest())) {
        lastDigest = view.catalogue().digest();
        JsonWriter event =
            new JsonWriter()
                .beginObject()
                .member("server", view.id().name())
                .member("tools", view.catalogue().tools().size());
        addInstance(event);
        publishEvent("catalogue", event.endObject());
        view.catalogue().warnings().entrySet().stream().limit(MAX_WARNINGS).forEach(this::warn);
      }
    }

    private void warn(Map.Entry<String, List<String>> toolWarnings) {
      LOG.log(
          Level.WARNING,
          () ->
              "server="
                  + instanceId()
                  + " tool="
                  + HiddenCharacters.escaped(toolWarnings.getKey())
                  + " warning="
                  + String.join("; ", toolWarnings.getValue()));
    }

    /** Adds the number of the instance if it is not the first. */
    private void addInstance(JsonWriter event) {
      if (instanceId().number() > 1) {
        event.member("instance", instanceId().number());
      }
    }

    private void publishEvent(String name, JsonWriter event) {
      bus.publish(
          Addresses.EVENTS, new BridgeEvent(name, event.toSlice(), null, config.id(), null));
    }
  }
}
