package dev.mcpbridge.server;

import dev.mcpbridge.bus.Addresses.ResourceSubscription;
import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ExecutionEnvironment;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.oauth.OAuthClient;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The upstreams of one server: a shared one and, with {@code isolation}, one for each caller or
 * session, so that no client sees what the server stores for another. The latter are bounded, and
 * end with their conversation or when idle for some time; the shared one then only provides the
 * catalogue.
 *
 * <p>Confined to its verticle's context.
 */
final class Upstreams implements Upstream.Listener {
  private final Vertx vertx;
  private final ServerConfig config;
  private final Instance.InstanceEnvironment instanceEnvironment;
  private final Upstream.Listener listener;
  private final Upstream shared;
  private final Map<String, IsolatedUpstream> isolated = new LinkedHashMap<>();
  private final Map<Upstream, Future<Void>> ending = new HashMap<>();
  private final OAuthClient oauth;

  /** Null for servers whose connections or calls are authorized, or that need no credentials. */
  private final AuthorizedCalls authorizedCalls;

  private boolean closing;

  private static final class IsolatedUpstream {
    final String caller;
    final String owner;
    final Upstream upstream;
    long lastUsedNanos;

    IsolatedUpstream(String caller, String owner, Upstream upstream) {
      this.caller = caller;
      this.owner = owner;
      this.upstream = upstream;
    }
  }

  /**
   * @param oauth obtains the credentials of connections; null for connections without
   */
  Upstreams(
      ServerConfig config,
      Instance.InstanceEnvironment instanceEnvironment,
      OAuthClient oauth,
      Upstream.Listener listener) {
    this.vertx = instanceEnvironment.context().owner();
    this.config = config;
    this.instanceEnvironment = instanceEnvironment;
    this.listener = listener;
    this.oauth = oauth;
    this.shared =
        new Upstream(
            config,
            null,
            oauth == null ? instanceEnvironment : instanceEnvironment.authorized(oauth.shared()),
            this);
    this.authorizedCalls =
        oauth != null
                && config.upstreamTarget() instanceof OpenApiSource api
                && !api.oauth().exchanges()
            ? new AuthorizedCalls(oauth, shared::call)
            : null;
  }

  void open() {
    shared.open();
    if (isIsolated()) {
      long period = Math.max(50, Math.min(config.isolation().idleMillis() / 2, 60_000));
      vertx.setPeriodic(period, t -> endUnused());
    }
  }

  Future<JsonSlice> call(Call call) {
    if (oauth != null) {
      oauth.deliver(call.caller());
    }
    return authorizedCalls == null ? of(call.caller()).call(call) : authorizedCalls.run(call);
  }

  /** Runs a call in the one container of the server and adds the container to the result. */
  Future<JsonSlice> callInContainer(Call call) {
    String image = config.sandboxPool().container().image();
    return call(call.uncached()).map(new ExecutionEnvironment(image, null, null)::addTo);
  }

  /** Forgets all results that are kept. */
  Future<ServerView> clearCache() {
    shared.clearCache();
    return Future.succeededFuture(view());
  }

  Future<ServerView> ready(long timeoutMillis) {
    return shared.ready(timeoutMillis).map(ready -> view());
  }

  Future<ServerView> restart(long drainMillis) {
    return Future.all(running().stream().map(each -> each.restart(drainMillis)).toList())
        .map(done -> view());
  }

  /**
   * Subscribes to a resource or unsubscribes. Returns the conversation whose upstream reports the
   * changes; null for the shared one.
   */
  Future<String> watch(ResourceSubscription resourceSubscription) {
    if (!isIsolated()) {
      return shared.watch(resourceSubscription).map(agreed -> null);
    }
    String conversation = conversation(resourceSubscription.caller());
    if (!resourceSubscription.isStart() && !isolated.containsKey(conversation)) {
      return Future.succeededFuture(conversation);
    }
    return of(resourceSubscription.caller())
        .watch(resourceSubscription)
        .map(agreed -> conversation);
  }

  /**
   * Ends the upstream of a conversation that has ended.
   *
   * @param drainMillis how long its calls in flight may continue
   */
  void endConversation(String conversation, long drainMillis) {
    IsolatedUpstream removed = isolated.remove(conversation);
    if (removed != null) {
      Future<Void> end = removed.upstream.close(drainMillis);
      ending.put(removed.upstream, end);
      end.onComplete(
          gone -> {
            ending.remove(removed.upstream);
            listener.changed(view());
          });
    }
  }

  Future<Void> close(long drainMillis) {
    closing = true;
    List<Future<?>> ends = new ArrayList<>(ending.values());
    running().forEach(upstream -> ends.add(upstream.close(drainMillis)));
    return Future.join(ends).mapEmpty();
  }

  /** The view of all upstreams together. */
  ServerView view() {
    ServerView view = shared.view();
    for (IsolatedUpstream each : isolated.values()) {
      view = view.plusSession(each.upstream.view());
    }
    for (Upstream each : ending.keySet()) {
      view = view.plusSession(each.view());
    }
    return view;
  }

  @Override
  public void changed(ServerView part) {
    listener.changed(view());
  }

  @Override
  public void callEvent(Call call, String name, JsonSlice params) {
    shared.listeners(call).forEach(each -> listener.callEvent(each, name, params));
  }

  @Override
  public void resourceUpdated(String conversation, String uri, JsonSlice params) {
    listener.resourceUpdated(conversation, uri, params);
  }

  @Override
  public Future<JsonSlice> serverRequest(Call call, ServerRequest serverRequest) {
    return listener.serverRequest(call, serverRequest);
  }

  private boolean isIsolated() {
    return config.isolation() != null && config.refusal() == null;
  }

  private Upstream of(Caller caller) {
    if (!isIsolated()) {
      return shared;
    }
    IsolatedUpstream found = isolated.get(conversation(caller));
    if (found == null) {
      found = begin(caller);
    }
    if (!found.owner.equals(owner(caller))) {
      throw new BridgeException(
          ErrorCode.FORBIDDEN, "The session was opened by another client of its user");
    }
    found.lastUsedNanos = System.nanoTime();
    return found.upstream;
  }

  /** What shares an upstream: a caller, or one of its sessions. */
  private String conversation(Caller caller) {
    boolean isOfSession = caller.session() != null && !config.isolation().perCaller();
    return isOfSession ? caller.conversation() : "caller " + owner(caller);
  }

  private String owner(Caller caller) {
    return oauth == null ? caller.name() : oauth.owner(caller);
  }

  /** A caller has granted access. */
  void consentGiven() {
    running().forEach(Upstream::consentGiven);
  }

  private IsolatedUpstream begin(Caller caller) {
    if (closing) {
      throw shared.startErrors().stopping();
    }
    int sessions = isolated.size() + ending.size();
    if (sessions >= config.isolation().maxSessions()) {
      throw new BridgeException(
              ErrorCode.QUEUE_FULL,
              "Server '%s' has reached its limit of sessions: %d (maxSessions)"
                  .formatted(config.id(), sessions))
          .withRetryAfter(10_000);
    }
    checkShare(caller.share());
    String conversation = conversation(caller);
    Instance.InstanceEnvironment own =
        oauth == null ? instanceEnvironment : instanceEnvironment.authorized(oauth.of(caller));
    IsolatedUpstream begun =
        new IsolatedUpstream(
            caller.share(), owner(caller), new Upstream(config, conversation, own, this));
    isolated.put(conversation, begun);
    begun.upstream.open();
    return begun;
  }

  /** Limits a caller to half of the sessions while callers can be told apart. */
  private void checkShare(String caller) {
    int maxSessions = config.isolation().maxSessions();
    long held = isolated.values().stream().filter(each -> each.caller.equals(caller)).count();
    if (instanceEnvironment.lease().callerLimits().severalCallers().getAsBoolean()
        && held >= Math.max(1, maxSessions / 2)) {
      throw new BridgeException(
              ErrorCode.RATE_LIMITED,
              "The caller has used its share of the sessions of server '%s': %d of %d (maxSessions)"
                  .formatted(config.id(), held, maxSessions))
          .withRetryAfter(10_000);
    }
  }

  private void endUnused() {
    long idleSince =
        System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(config.isolation().idleMillis());
    isolated.entrySet().stream()
        .filter(e -> e.getValue().lastUsedNanos - idleSince < 0 && e.getValue().upstream.isIdle())
        .map(Map.Entry::getKey)
        .toList()
        .forEach(conversation -> endConversation(conversation, 0));
  }

  private List<Upstream> running() {
    List<Upstream> running = new ArrayList<>();
    running.add(shared);
    isolated.values().forEach(each -> running.add(each.upstream));
    return running;
  }
}
