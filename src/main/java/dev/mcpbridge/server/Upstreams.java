package dev.mcpbridge.server;

import dev.mcpbridge.bus.Addresses.ResourceSubscription;
import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ExecutionEnvironment;
import dev.mcpbridge.model.ServerView;
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
 * The upstreams of one server: the one that all share or, with {@code isolation: session}, one for
 * each conversation beside it, so that what a server remembers of one client no other sees. Those
 * are bounded, and end with their conversation or when nobody has used them for a while; the shared
 * one then only says what the server offers.
 *
 * <p>Confined to its verticle's context.
 */
final class Upstreams implements Upstream.Listener {
  private final Vertx vertx;
  private final ServerConfig config;
  private final Instance.InstanceEnvironment instanceEnvironment;
  private final Upstream.Listener listener;
  private final Upstream shared;
  private final Map<String, IsolatedUpstream> own = new LinkedHashMap<>();
  private final Map<Upstream, Future<Void>> ending = new HashMap<>();
  private boolean closing;

  private static final class IsolatedUpstream {
    final String caller;
    final Upstream upstream;
    long lastUsedNanos;

    IsolatedUpstream(String caller, Upstream upstream) {
      this.caller = caller;
      this.upstream = upstream;
    }
  }

  Upstreams(
      ServerConfig config,
      Instance.InstanceEnvironment instanceEnvironment,
      Upstream.Listener listener) {
    this.vertx = instanceEnvironment.context().owner();
    this.config = config;
    this.instanceEnvironment = instanceEnvironment;
    this.listener = listener;
    this.shared = new Upstream(config, null, instanceEnvironment, this);
  }

  void open() {
    shared.open();
    if (isIsolated()) {
      long period = Math.max(50, Math.min(config.isolation().idleMillis() / 2, 60_000));
      vertx.setPeriodic(period, t -> endUnused());
    }
  }

  Future<JsonSlice> call(Call call) {
    return of(call.caller()).call(call);
  }

  /** Where the server's one container is where everything runs; the result says so. */
  Future<JsonSlice> callInContainer(Call call) {
    String image = config.sandboxPool().container().image();
    return call(call).map(new ExecutionEnvironment(image, null, null)::in);
  }

  /** Gives a call up, wherever it is, also where its client has left. */
  void cancel(String callId, String reason) {
    List<Upstream> all = running();
    all.addAll(ending.keySet());
    all.forEach(upstream -> upstream.cancel(callId, reason));
  }

  Future<ServerView> ready(long timeoutMillis) {
    return shared.ready(timeoutMillis).map(ready -> view());
  }

  Future<ServerView> restart(long drainMillis) {
    return Future.all(running().stream().map(each -> each.restart(drainMillis)).toList())
        .map(done -> view());
  }

  /** Begins or ends to listen; answers whose upstream will tell, null for the shared one. */
  Future<String> watch(ResourceSubscription resourceSubscription) {
    if (!isIsolated()) {
      return shared.watch(resourceSubscription).map(agreed -> null);
    }
    String conversation = resourceSubscription.by().conversation();
    if (!resourceSubscription.wanted() && !own.containsKey(conversation)) {
      return Future.succeededFuture(conversation);
    }
    return of(resourceSubscription.by()).watch(resourceSubscription).map(agreed -> conversation);
  }

  /**
   * A client has left for good.
   *
   * @param drainMillis how long its calls in flight may go on
   */
  void over(String conversation, long drainMillis) {
    IsolatedUpstream left = own.remove(conversation);
    if (left != null) {
      Future<Void> end = left.upstream.close(drainMillis);
      ending.put(left.upstream, end);
      end.onComplete(
          gone -> {
            ending.remove(left.upstream);
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

  /** The server as a whole. */
  ServerView view() {
    ServerView view = shared.view();
    for (IsolatedUpstream each : own.values()) {
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
    listener.callEvent(call, name, params);
  }

  @Override
  public void resourceUpdated(String conversation, String uri, JsonSlice params) {
    listener.resourceUpdated(conversation, uri, params);
  }

  @Override
  public Future<JsonSlice> question(Call call, ServerRequest serverRequest) {
    return listener.question(call, serverRequest);
  }

  private boolean isIsolated() {
    return config.isolation() != null && config.refusal() == null;
  }

  private Upstream of(Caller caller) {
    if (!isIsolated()) {
      return shared;
    }
    IsolatedUpstream found = own.get(caller.conversation());
    if (found == null) {
      found = begin(caller);
    }
    found.lastUsedNanos = System.nanoTime();
    return found.upstream;
  }

  private IsolatedUpstream begin(Caller caller) {
    if (closing) {
      throw shared.refusals().stopping();
    }
    int sessions = own.size() + ending.size();
    if (sessions >= config.isolation().maxSessions()) {
      throw new BridgeException(
              ErrorCode.QUEUE_FULL,
              "Server '" + config.id() + "' has " + sessions + " sessions, as many as it may")
          .withRetryAfter(10_000);
    }
    requireShare(caller.share());
    String conversation = caller.conversation();
    IsolatedUpstream begun =
        new IsolatedUpstream(
            caller.share(), new Upstream(config, conversation, instanceEnvironment, this));
    own.put(conversation, begun);
    begun.upstream.open();
    return begun;
  }

  /** Where callers can be told apart none has more than half of the sessions. */
  private void requireShare(String caller) {
    int places = config.isolation().maxSessions();
    long held = own.values().stream().filter(each -> each.caller.equals(caller)).count();
    if (instanceEnvironment.severalCallers().getAsBoolean() && held >= Math.max(1, places / 2)) {
      throw new BridgeException(
              ErrorCode.RATE_LIMITED,
              "This caller has its share of the sessions of server '%s': %d of %d (maxSessions)"
                  .formatted(config.id(), held, places))
          .withRetryAfter(10_000);
    }
  }

  private void endUnused() {
    long horizon =
        System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(config.isolation().idleMillis());
    own.entrySet().stream()
        .filter(e -> e.getValue().lastUsedNanos - horizon < 0 && e.getValue().upstream.isIdle())
        .map(Map.Entry::getKey)
        .toList()
        .forEach(conversation -> over(conversation, 0));
  }

  private List<Upstream> running() {
    List<Upstream> running = new ArrayList<>();
    running.add(shared);
    own.values().forEach(each -> running.add(each.upstream));
    return running;
  }
}
