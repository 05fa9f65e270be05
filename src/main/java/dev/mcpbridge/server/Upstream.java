package dev.mcpbridge.server;

import dev.mcpbridge.bus.Addresses.ResourceSubscription;
import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.cache.CachedCalls;
import dev.mcpbridge.config.OAuthConfig;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.LastError;
import dev.mcpbridge.model.ServerIdentity;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.session.Handshake;
import dev.mcpbridge.session.Negotiated;
import dev.mcpbridge.session.Session;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * One server: its instances, its catalogue, and its view for the rest of the bridge. Calls go
 * through {@link Dispatcher}.
 *
 * <p>Confined to its verticle's context. The catalogue survives a crash, so that calls can wait for
 * the restart instead of failing.
 */
final class Upstream implements Instance.Listener {
  private static final long REFRESH_DELAY_MILLIS = 200;

  private final Vertx vertx;
  private final ServerConfig config;
  private final String conversation;
  private final InstanceLocation instanceLocation;
  private final BridgeIdentity self;
  private final Listener listener;
  private final List<Instance> instances;
  private final StartErrors startErrors;
  private final Dispatcher dispatcher;
  private final CachedCalls cachedCalls;
  private final SubscribedResources subscriptions;
  private final List<Promise<ServerView>> awaitingReady = new ArrayList<>();
  private Negotiated negotiated;
  private Catalogue catalogue;
  private ServerIdentity identity;
  private String protocolVersion;
  private LastError lastError;
  private String lastStateName = "";
  private ServerState state;
  private long sinceMillis = System.currentTimeMillis();
  private long garbageLines;
  private long dropped;
  private Future<ServerView> restarting;
  private boolean refreshing;
  private Instance changedInstance;
  private boolean closing;

  /** Receives the events of the server. Called on the context thread. */
  interface Listener {
    void changed(ServerView view);

    /** An event of a streaming call; {@code name} is {@code progress} or {@code message}. */
    void callEvent(Call call, String name, JsonSlice params);

    /** A subscribed resource has changed; {@code conversation} is null for a shared upstream. */
    void resourceUpdated(String conversation, String uri, JsonSlice params);

    /** A request of the server to the client of a call. Returns the result of the client. */
    Future<JsonSlice> serverRequest(Call call, ServerRequest serverRequest);
  }

  /**
   * @param conversation the only conversation that it serves; null for a shared upstream
   */
  Upstream(
      ServerConfig config,
      String conversation,
      Instance.InstanceEnvironment instanceEnvironment,
      Listener listener) {
    this.vertx = instanceEnvironment.context().owner();
    this.config = config;
    this.conversation = conversation;
    this.instanceLocation = instanceEnvironment.lease().instanceLocation();
    this.self = instanceEnvironment.self();
    this.listener = listener;
    this.startErrors = new StartErrors(config.id(), instanceLocation.node() != null);
    this.state = config.refusal() == null ? new ServerState.Stopped() : config.refusal();
    this.lastError = config.refusal() == null ? null : new LastError(config.refusal().reason());
    RestartPolicy policy =
        new RestartPolicy(config.supervision().maxRestartDelay(), RandomGenerator.getDefault());
    this.instances =
        IntStream.range(0, config.supervision().instances())
            .mapToObj(i -> new Instance(config, instanceEnvironment, policy, this))
            .toList();
    this.dispatcher =
        new Dispatcher(
            instanceEnvironment.context(),
            config,
            instances,
            listener,
            instanceEnvironment::mayStartCall,
            instanceEnvironment.lease().callerLimits().sharing(),
            instanceEnvironment.telemetry());
    this.cachedCalls =
        config.cache() == null
            ? null
            : new CachedCalls(
                instanceEnvironment.context(),
                config.cache(),
                config.timeouts(),
                config.supervision().maxQueued(),
                dispatcher::submit);
    this.subscriptions = new SubscribedResources(vertx, config.supervision().startTimeout());
  }

  /** Starts the instances unless the server is lazy. */
  void open() {
    if (!config.supervision().lazy() && config.refusal() == null) {
      instances.forEach(Instance::start);
    }
    publish();
  }

  /** Runs a call, immediately or after it was queued. */
  Future<JsonSlice> call(Call request) {
    if (closing) {
      return Future.failedFuture(startErrors.stopping());
    }
    Call call = config.sessionSettings().forwardsRoots() ? request : request.withoutRoots();
    if (state.takesCalls()) {
      return submit(call);
    }
    if (state instanceof ServerState.Refused refusal) {
      return Future.failedFuture(StartErrors.refused(refusal));
    }
    if (state instanceof ServerState.Failed failed && keepsFailing(failed)) {
      return Future.failedFuture(startErrors.unavailable(failed));
    }
    startIfStopped();
    return submit(call);
  }

  private Future<JsonSlice> submit(Call call) {
    return cachedCalls == null
        ? dispatcher.submit(call.withEnvelope(call.envelope().withoutMeta(MetaKeys.CACHE)))
        : cachedCalls.run(call);
  }

  /** The calls that want to know of an event of a call, which several may share. */
  List<Call> listeners(Call call) {
    return cachedCalls == null ? List.of(call) : cachedCalls.listeners(call);
  }

  /** Forgets all results that are kept. */
  void clearCache() {
    if (cachedCalls != null) {
      cachedCalls.clear();
    }
  }

  /** Completes with the view once there is a catalogue. Fails on a start error or a timeout. */
  Future<ServerView> ready(long timeoutMillis) {
    if (config.refusal() != null) {
      return Future.failedFuture(StartErrors.refused(config.refusal()));
    }
    if (closing) {
      return Future.failedFuture(startErrors.stopping());
    }
    startIfStopped();
    ServerState state = state();
    if (state.takesCalls() && catalogue != null) {
      return Future.succeededFuture(view());
    }
    if (state instanceof ServerState.Failed failed && keepsFailing(failed)) {
      return Future.failedFuture(startErrors.unavailable(failed));
    }
    Promise<ServerView> promise = Promise.promise();
    awaitingReady.add(promise);
    long timer =
        vertx.setTimer(
            Math.max(1, timeoutMillis), t -> promise.tryFail(startErrors.stillStarting(state())));
    return promise.future().onComplete(done -> forget(promise, timer));
  }

  /** Replaces the processes one by one after draining. Concurrent requests share one restart. */
  Future<ServerView> restart(long drainMillis) {
    if (restarting == null || restarting.isComplete()) {
      restarting = replaceAll(drainMillis);
    }
    return restarting;
  }

  private Future<ServerView> replaceAll(long drainMillis) {
    Future<Void> replaced = Future.succeededFuture();
    for (Instance instance : instances) {
      replaced =
          replaced.compose(
              v -> {
                instance.drain();
                return awaitIdle(List.of(instance), drainMillis)
                    .compose(idle -> instance.replace());
              });
    }
    long patience = Handshake.maxDurationMillis(config.supervision().startTimeout());
    return replaced.compose(v -> ready(patience));
  }

  /** Stops for good. Calls in flight get the given time; queued calls are rejected at once. */
  Future<Void> close(long drainMillis) {
    closing = true;
    BridgeException stopped = startErrors.stopping();
    dispatcher.close(stopped);
    List.copyOf(awaitingReady).forEach(promise -> promise.tryFail(stopped));
    instances.forEach(Instance::drain);
    return awaitIdle(instances, drainMillis)
        .compose(idle -> Future.all(instances.stream().map(Instance::retire).toList()))
        .mapEmpty();
  }

  ServerState state() {
    return state;
  }

  /** A caller has granted access: starts the instances that wait for it. */
  void consentGiven() {
    if (state instanceof ServerState.NeedsConsent) {
      startIfStopped();
    }
  }

  StartErrors startErrors() {
    return startErrors;
  }

  /** Whether there are no calls, neither running nor queued, and no subscriptions. */
  boolean isIdle() {
    return dispatcher.waiting() == 0
        && subscriptions.isEmpty()
        && instances.stream().allMatch(instance -> instance.inFlight() == 0);
  }

  ServerView view() {
    return new ServerView(
        config.id(),
        state(),
        instances.stream()
            .map(Instance::pid)
            .filter(OptionalLong::isPresent)
            .map(OptionalLong::getAsLong)
            .toList(),
        protocolVersion,
        identity,
        catalogue,
        config.risk(),
        config.timeouts(),
        config.sandboxPool() == null ? null : config.sandboxPool().container().image(),
        config.upstreamTarget() instanceof OpenApiSource api && api.authUrl() != null
            ? api.authUrl().toString()
            : null,
        config.programDigest(),
        new ServerView.Counters(
            instances.size(),
            0,
            instances.stream().mapToInt(Instance::restarts).sum(),
            instances.stream().mapToInt(Instance::inFlight).sum(),
            dispatcher.waiting(),
            garbageLines,
            dropped),
        lastError,
        sinceMillis,
        List.of(instanceLocation));
  }

  @Override
  public void changed(Instance instance) {
    state = ServerState.of(instances.stream().map(Instance::state).toList());
    if (instance.state() instanceof ServerState.Degraded degraded) {
      lastError = new LastError(degraded.reason());
    } else if (instance.state() instanceof ServerState.Failed failed) {
      lastError = new LastError(failed.reason(), instance.lastStderrLine());
      if (state() instanceof ServerState.Failed all && keepsFailing(all)) {
        dispatcher.refuseWaiting(startErrors.unavailable(all));
        List.copyOf(awaitingReady)
            .forEach(promise -> promise.tryFail(startErrors.startFailed(all)));
      }
    } else if (state instanceof ServerState.NeedsConsent refused) {
      dispatcher.refuseWaiting(refused.failure());
      List.copyOf(awaitingReady).forEach(promise -> promise.tryFail(refused.failure()));
    }
    publish();
    if (instance.state().takesCalls()) {
      List.copyOf(awaitingReady).forEach(promise -> promise.tryComplete(view()));
    }
    dispatcher.dispatch();
  }

  @Override
  public Future<Void> discovered(Session session, Negotiated negotiated, long deadlineNanos) {
    return Discovery.of(session, negotiated, self, config, deadlineNanos)
        .map(
            found -> {
              clearCache();
              catalogue = offered(found);
              protocolVersion = negotiated.revision();
              identity =
                  new ServerIdentity(
                      negotiated.serverInfo(),
                      negotiated.capabilities(),
                      negotiated.instructions(),
                      negotiated.bridge() != null);
              this.negotiated = negotiated;
              subscriptions.resume(session);
              return null;
            });
  }

  /** Subscribes to a resource at the running instances, or unsubscribes. */
  Future<Boolean> watch(ResourceSubscription resourceSubscription) {
    List<Session> sessions =
        instances.stream()
            .filter(instance -> instance.state().takesCalls())
            .map(Instance::session)
            .toList();
    return resourceSubscription.isStart()
        ? subscriptions.add(resourceSubscription.uri(), sessions)
        : subscriptions.remove(resourceSubscription.uri(), sessions);
  }

  @Override
  public Future<JsonSlice> serverRequest(Instance instance, ServerRequest serverRequest) {
    return dispatcher.forwardRequest(instance, serverRequest);
  }

  @Override
  public void notified(Instance instance, RpcMessage notification) {
    switch (notification.method()) {
      case McpMethod.RESOURCE_UPDATED -> resourceUpdated(notification.payload());
      case McpMethod.MESSAGE -> dispatcher.forwardLogMessage(instance, notification.payload());
      case McpMethod.TOOLS_CHANGED, McpMethod.RESOURCES_CHANGED, McpMethod.PROMPTS_CHANGED ->
          refreshSoon(instance);
      default -> {
        // other notifications concern client features that the bridge does not declare
      }
    }
  }

  @Override
  public void listsMayBeStale(Instance instance) {
    refreshSoon(instance);
  }

  private void resourceUpdated(JsonSlice params) {
    String uri = params == null ? null : JsonObjects.string(JsonObjects.members(params).get("uri"));
    if (uri != null) {
      if (cachedCalls != null) {
        cachedCalls.clear(uri);
      }
      listener.resourceUpdated(conversation, uri, SubscribedResources.withoutSubscription(params));
    }
  }

  @Override
  public void lost(int garbage, int messages) {
    garbageLines += garbage;
    dropped += messages;
  }

  /** Changes come in bursts, so the lists are read once for several notifications. */
  private void refreshSoon(Instance instance) {
    changedInstance = instance;
    if (!refreshing) {
      refreshing = true;
      vertx.setTimer(REFRESH_DELAY_MILLIS, t -> refresh());
    }
  }

  /** One reading at a time, so that an older answer never replaces a newer one. */
  private void refresh() {
    Instance instance = changedInstance;
    changedInstance = null;
    if (!instance.state().takesCalls()) {
      refreshing = false;
      return;
    }
    long deadlineNanos =
        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.supervision().startTimeout());
    Discovery.of(instance.session(), negotiated, self, config, deadlineNanos)
        .onSuccess(
            found -> {
              if (!found.digest().equals(catalogue.digest())) {
                clearCache();
                catalogue = offered(found);
                publish();
              }
            })
        .onComplete(
            read -> {
              refreshing = false;
              if (changedInstance != null) {
                refreshSoon(changedInstance);
              }
            });
  }

  /** Leaves out what may be only for the caller whose credential is used. */
  private Catalogue offered(Catalogue found) {
    OAuthConfig oauth = config.upstreamTarget().oauth();
    return oauth != null && oauth.listsWithCaller() ? found.withoutResources() : found;
  }

  private void startIfStopped() {
    instances.forEach(
        instance -> {
          if (instance.state() instanceof ServerState.Stopped
              || instance.state() instanceof ServerState.NeedsConsent) {
            instance.start();
          }
        });
  }

  /** Calls wait for a server that crashed once while ready, but not if it keeps failing. */
  private boolean keepsFailing(ServerState.Failed failed) {
    return failed.attempts() > 1 || catalogue == null;
  }

  private void forget(Promise<ServerView> promise, long timer) {
    awaitingReady.remove(promise);
    vertx.cancelTimer(timer);
  }

  private Future<Void> awaitIdle(List<Instance> draining, long maxMillis) {
    if (maxMillis <= 0 || draining.stream().allMatch(instance -> instance.inFlight() == 0)) {
      return Future.succeededFuture();
    }
    return vertx.timer(20).<Void>mapEmpty().compose(v -> awaitIdle(draining, maxMillis - 20));
  }

  private void publish() {
    String name = state().apiName();
    if (!name.equals(lastStateName)) {
      lastStateName = name;
      sinceMillis = System.currentTimeMillis();
    }
    listener.changed(view());
  }
}
