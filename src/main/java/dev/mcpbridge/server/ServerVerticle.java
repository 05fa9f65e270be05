package dev.mcpbridge.server;

import dev.mcpbridge.bus.Address;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.BridgeEvent;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.bus.Addresses.ResourceUpdate;
import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.config.ServerConfig;
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
 * Owns one upstream server, or one instance of it, for its life: registers its addresses, publishes
 * its view, and takes its processes with it when it goes.
 *
 * <p>Runs on an event loop; nothing here waits for a pipe or a process (see {@code transport}).
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
  private final List<Runnable> served = new ArrayList<>();
  private LongSupplier drainMillis;
  private Upstreams upstreams;

  /**
   * The terms on which this node has the server.
   *
   * @param mayAct whether it may begin a call of it at this moment
   * @param severalCallers whether callers can be told apart, at this moment
   */
  record Lease(
      InstanceLocation instanceLocation, BooleanSupplier mayAct, BooleanSupplier severalCallers) {}

  /**
   * @param drainMillis how long calls in flight may go on when the verticle is undeployed
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
    InstanceId instanceId = part();
    Instance.InstanceEnvironment instanceEnvironment =
        new Instance.InstanceEnvironment(
            context,
            transportFactory,
            limits,
            self,
            lease.instanceLocation(),
            lease.mayAct(),
            lease.severalCallers());
    Telling telling = new Telling();
    upstreams = new Upstreams(config, instanceEnvironment, telling);
    serve(Addresses.call(id).at(instanceId), upstreams::call);
    if (config.sandboxPool() != null && !config.sandboxPool().isPerCall()) {
      serve(Addresses.isolated(id).at(instanceId), upstreams::callInContainer);
    }
    bus.subscribe(Addresses.cancel(id), c -> upstreams.cancel(c.callId(), c.reason()));
    serve(Addresses.ready(id).at(instanceId), upstreams::ready);
    serve(Addresses.view(instanceId), asked -> view());
    serve(Addresses.restart(instanceId), asked -> upstreams.restart(drainMillis.getAsLong()));
    serve(Addresses.watch(instanceId), upstreams::watch);
    bus.subscribe(Addresses.CONVERSATION_OVER, c -> upstreams.over(c, drainMillis.getAsLong()));
    bus.subscribe(Addresses.NODE_CONNECTED, slot -> telling.again(upstreams.view()));
    upstreams.open();
    return Future.succeededFuture();
  }

  /** Calls that wait for a container wait elsewhere on this node. */
  private Future<ServerView> view() {
    ServerView view = upstreams.view();
    return config.sandboxPool() != null && config.sandboxPool().isPerCall()
        ? bus.request(Addresses.waiting(part()), config.id()).map(view::plusQueued).otherwise(view)
        : Future.succeededFuture(view);
  }

  private <Q, A> void serve(Address<Q, A> address, Function<Q, Future<A>> answer) {
    served.add(bus.serve(address, answer));
  }

  /** What it is of the server. */
  private InstanceId part() {
    return new InstanceId(config.id(), lease.instanceLocation().instance());
  }

  private InstanceStopped departure() {
    return new InstanceStopped(config.id(), lease.instanceLocation());
  }

  /** Calls in flight get no time any more when the verticle is undeployed. */
  void hurry() {
    drainMillis = () -> 0;
  }

  @Override
  public Future<?> stop() {
    return upstreams
        .close(drainMillis.getAsLong())
        .onComplete(
            gone -> {
              served.forEach(Runnable::run);
              bus.publish(Addresses.PART_GONE, departure());
            });
  }

  private final class Telling implements Upstream.Listener {
    private String lastState = "";
    private String lastDigest = "";

    /** For a node that has heard nothing yet. */
    void again(ServerView view) {
      bus.publish(Addresses.PART_CHANGED, view);
    }

    @Override
    public void changed(ServerView view) {
      bus.publish(Addresses.PART_CHANGED, view);
      tellStateChange(view);
      tellCatalogueChange(view);
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
    public Future<JsonSlice> question(Call call, ServerRequest serverRequest) {
      return bus.request(Addresses.question(call.id()), serverRequest);
    }

    private void tellStateChange(ServerView view) {
      if (!lastState.equals(view.state().word())) {
        lastState = view.state().word();
        log(view);
        JsonWriter event =
            new JsonWriter()
                .beginObject()
                .member("server", view.id().name())
                .member("state", lastState);
        instance(event);
        if (view.lastError() != null) {
          event.member("last_error", view.lastError().reason());
        }
        tell("server", event.endObject());
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
                  + part()
                  + " state="
                  + lastState
                  + " pids="
                  + view.pids()
                  + (failed ? " reason=" + view.lastError().whole() : ""));
    }

    private void tellCatalogueChange(ServerView view) {
      if (view.isDiscovered() && !lastDigest.equals(view.catalogue().digest())) {
        lastDigest = view.catalogue().digest();
        JsonWriter event =
            new JsonWriter()
                .beginObject()
                .member("server", view.id().name())
                .member("tools", view.catalogue().tools().size());
        instance(event);
        tell("catalogue", event.endObject());
        view.catalogue().warnings().entrySet().stream().limit(MAX_WARNINGS).forEach(this::warn);
      }
    }

    private void warn(Map.Entry<String, List<String>> ofTool) {
      LOG.log(
          Level.WARNING,
          () ->
              "server="
                  + part()
                  + " tool="
                  + HiddenCharacters.shown(ofTool.getKey())
                  + " warning="
                  + String.join("; ", ofTool.getValue()));
    }

    /** Which of several it is. */
    private void instance(JsonWriter event) {
      if (part().number() > 1) {
        event.member("instance", part().number());
      }
    }

    private void tell(String name, JsonWriter event) {
      bus.publish(Addresses.EVENTS, new BridgeEvent(name, event.toSlice(), null));
    }
  }
}
