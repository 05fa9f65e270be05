package dev.mcpbridge.sandbox;

import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.ExecutionEnvironment;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.session.Exchange;
import dev.mcpbridge.session.Handshake;
import dev.mcpbridge.session.Session;
import dev.mcpbridge.session.SessionListener;
import dev.mcpbridge.transport.StdioTransport;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.function.Consumer;

/**
 * One container that stands ready: started, attached, its handshake done, and used by nobody. It
 * takes one call and is then discarded. Confined to its context.
 */
final class Standby implements SessionListener {
  private final ContainerTarget container;
  private final Listener listener;
  private final Session session;
  private ContainerTransport transport;
  private Call call;
  private Exchange exchange;
  private Runnable lost = () -> {};

  /** What a server says while its call runs. */
  interface Listener {
    void callEvent(Call call, String name, JsonSlice params);

    Future<JsonSlice> question(Call call, String method, JsonSlice params);
  }

  private Standby(Context context, ContainerTarget container, String server, Listener listener) {
    this.container = container;
    this.listener = listener;
    this.session = new Session(context, server, this);
  }

  /** What is the same for all of one server. */
  record ContainerRecipe(
      Containers containers,
      ContainerTarget container,
      String server,
      StdioTransport.Limits limits) {}

  /** Starts a container and greets the server in it. What fails leaves none behind. */
  static Future<Standby> start(
      Context context,
      ContainerRecipe containerRecipe,
      Handshake.HandshakeOptions handshakeOptions,
      Listener listener) {
    Standby standby =
        new Standby(context, containerRecipe.container(), containerRecipe.server(), listener);
    return containerRecipe
        .containers()
        .start(
            containerRecipe.container(),
            containerRecipe.server(),
            containerRecipe.limits(),
            standby.session)
        .compose(transport -> standby.greet(transport, handshakeOptions));
  }

  private Future<Standby> greet(
      ContainerTransport opened, Handshake.HandshakeOptions handshakeOptions) {
    transport = opened;
    return Handshake.perform(session.over(opened), handshakeOptions, container.startMillis())
        .map(this)
        .recover(failed -> opened.discard().transform(discarded -> Future.failedFuture(failed)));
  }

  /** Whether it has ended, or is about to. */
  boolean isEnding() {
    return transport.isEnding();
  }

  /** Whether its server is one without a handshake. */
  boolean isStateless() {
    return session.isStateless();
  }

  /** Runs when it is lost before it is used. */
  void onLost(Runnable handler) {
    lost = handler;
  }

  /** Runs the one call. */
  Future<RpcMessage> run(Call one, long deadlineNanos) {
    call = one;
    lost = () -> {};
    Consumer<JsonSlice> progress =
        one.streaming() ? params -> listener.callEvent(one, "progress", params) : null;
    exchange =
        session.send(
            new Exchange.Request(
                one.target().kind().method(),
                one.params(),
                deadlineNanos,
                one.envelope(),
                progress));
    return exchange.answer();
  }

  void cancel(BridgeException why) {
    session.cancel(exchange, why);
  }

  /** How it ended by itself; null where it did not. */
  ContainerEngine.End end() {
    return transport.end();
  }

  ExecutionEnvironment environment() {
    return new ExecutionEnvironment(container.image(), transport.image().id(), transport.id());
  }

  Future<Void> discard() {
    lost = () -> {};
    return transport.discard();
  }

  @Override
  public void notified(RpcMessage notification) {
    if (call != null
        && call.streaming()
        && notification.method().equals(McpMethod.MESSAGE)
        && notification.payload() != null) {
      listener.callEvent(call, "message", notification.payload());
    }
  }

  @Override
  public Future<JsonSlice> asked(String method, JsonSlice params) {
    if (call == null) {
      return Future.failedFuture("No call runs here");
    }
    exchange.pause();
    return listener.question(call, method, params).onComplete(done -> exchange.resume());
  }

  @Override
  public void lost(int garbageLines, int droppedMessages) {
    // counted where the server is supervised; a container for one call is not looked at so closely
  }

  @Override
  public void closed(String reason) {
    lost.run();
  }
}
