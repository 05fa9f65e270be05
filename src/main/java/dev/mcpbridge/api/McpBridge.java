package dev.mcpbridge.api;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.InProcess;
import dev.mcpbridge.config.BridgeConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A bridge within a program. It uses the Vert.x of the program, on one of its event loops, and
 * worker threads of its own; it never ends the process, and closing it leaves nothing behind.
 * Thread-safe.
 *
 * <pre>{@code
 * McpBridge.start(vertx, BridgeOptions.fromFile(Path.of("bridge.json")))
 *     .compose(bridge -> bridge.tools().call("git__git_log", "{\"repository\":\".\"}"))
 *     .onSuccess(outcome -> System.out.println(outcome.text()));
 * }</pre>
 */
public final class McpBridge {
  private static final Caller ITSELF = Caller.named("program");
  private static final Duration GRACE = Duration.ofSeconds(10);

  private final Bridge bridge;
  private final BridgeConfig config;

  private McpBridge(Bridge bridge, BridgeConfig config) {
    this.bridge = bridge;
    this.config = config;
  }

  /**
   * Starts a bridge. Its event loop is that of the verticle that calls, or else one that Vert.x
   * assigns to this thread. A Vert.x can have one bridge.
   *
   * @return completes when its servers are starting, on the context that called or else on the
   *     event loop of the bridge; fails if an address cannot be bound, a file cannot be read, or
   *     the Vert.x has a bridge already
   */
  public static Future<McpBridge> start(Vertx vertx, BridgeOptions options) {
    BridgeConfig config = options.config();
    return Bridge.startWithin(vertx, config)
        .map(bridge -> new McpBridge(bridge, config))
        .recover(failure -> Future.failedFuture(BridgeFailure.of(failure)));
  }

  /** The tools, for calls of the program itself. */
  public Tools tools() {
    return tools(ITSELF);
  }

  /** The tools, for calls on behalf of a caller. */
  public Tools tools(Caller caller) {
    return new Tools(bridge.inProcess(), config.limits(), caller);
  }

  /** The servers that a caller sees, with their present states. */
  public Future<List<Server>> servers(Caller caller) {
    InProcess inProcess = bridge.inProcess();
    return inProcess
        .bus()
        .loop()
        .call(
            () ->
                Future.succeededFuture(
                    inProcess.access().all(caller.principal()).stream().map(Server::of).toList()));
  }

  /**
   * The HTTP API and the MCP endpoints, to be mounted in a router of the program: {@code
   * router.route("/tools/*").subRouter(bridge.router())}. Its HTTP server must run on the event
   * loop of the bridge; requests on another one are refused. A body handler is not needed before
   * it. Host names, origins and callers are checked as on the listener; console and documentation
   * pages are not part of it.
   */
  public Router router() {
    return bridge.router();
  }

  /** The URL of the listener; empty without one. */
  public Optional<String> url() {
    return Optional.ofNullable(bridge.url());
  }

  /**
   * Hears the events of the bridge, those of {@code GET /events}, on its event loop.
   *
   * @return ends that; may be called from any thread, and more than once
   */
  public Runnable onEvent(Consumer<Event> listener) {
    Bus bus = bridge.inProcess().bus();
    Future<Runnable> subscribed =
        bus.loop()
            .call(
                () ->
                    Future.succeededFuture(
                        bus.subscribe(
                            Addresses.EVENTS,
                            event ->
                                listener.accept(new Event(event.name(), event.data().text())))));
    return () -> subscribed.onSuccess(end -> bus.loop().run(end));
  }

  /**
   * Applies another configuration, except for what needs a restart. Servers whose entries have not
   * changed keep running.
   */
  public Future<Void> reload(BridgeOptions options) {
    return outside(
        bridge
            .reload(options.config())
            .recover(failure -> Future.failedFuture(BridgeFailure.of(failure))));
  }

  /** Ends the servers after their running calls, for at most ten seconds, and everything else. */
  public Future<Void> close() {
    return close(GRACE);
  }

  /**
   * The same.
   *
   * @param grace how long running calls may continue
   */
  public Future<Void> close(Duration grace) {
    return outside(bridge.close(grace));
  }

  private <T> Future<T> outside(Future<T> inside) {
    return bridge.inProcess().bus().loop().outside(inside);
  }
}
