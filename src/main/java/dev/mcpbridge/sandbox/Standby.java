package dev.mcpbridge.sandbox;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.ExecutionEnvironment;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.session.Exchange;
import dev.mcpbridge.session.Handshake;
import dev.mcpbridge.session.Session;
import dev.mcpbridge.session.SessionListener;
import dev.mcpbridge.trace.CallSpans;
import dev.mcpbridge.trace.Conventions;
import dev.mcpbridge.trace.Span;
import dev.mcpbridge.transport.ServerLog;
import dev.mcpbridge.transport.StdioTransport;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.function.Consumer;

/**
 * One container kept ready for a call: started, attached, with its handshake done. It runs one call
 * and is then discarded. Confined to its context.
 */
final class Standby implements SessionListener {
  private final ContainerTarget container;
  private final Bus bus;
  private final Session session;
  private ContainerTransport transport;
  private Call call;
  private Exchange exchange;
  private Runnable lostHandler = () -> {};

  private Standby(Context context, ContainerTarget container, String server, Bus bus) {
    this.container = container;
    this.bus = bus;
    this.session = new Session(context, server, this);
  }

  /** Start parameters, the same for all containers of a server. */
  record ContainerRecipe(
      Containers containers,
      ContainerTarget container,
      String server,
      StdioTransport.Limits limits,
      ServerLog log) {}

  /** Starts a container and performs the handshake; leaves no container behind on failure. */
  static Future<Standby> start(
      Context context,
      ContainerRecipe containerRecipe,
      Handshake.HandshakeOptions handshakeOptions,
      Bus bus) {
    Standby standby =
        new Standby(context, containerRecipe.container(), containerRecipe.server(), bus);
    return containerRecipe
        .containers()
        .start(
            containerRecipe.container(),
            containerRecipe.server(),
            containerRecipe.limits(),
            containerRecipe.log(),
            standby.session)
        .compose(transport -> standby.handshake(transport, handshakeOptions));
  }

  private Future<Standby> handshake(
      ContainerTransport opened, Handshake.HandshakeOptions handshakeOptions) {
    transport = opened;
    return Handshake.perform(session.bind(opened), handshakeOptions, container.startMillis())
        .map(this)
        .recover(failed -> opened.discard().transform(discarded -> Future.failedFuture(failed)));
  }

  /** Whether the container has ended or is being removed. */
  boolean isEnding() {
    return transport.isEnding();
  }

  /** Whether its server belongs to the stateless era. */
  boolean isStateless() {
    return session.isStateless();
  }

  /** Sets a callback for a container that ends before it is used. */
  void onLost(Runnable handler) {
    lostHandler = handler;
  }

  /** Runs the call; called at most once. */
  Future<RpcMessage> run(Call assigned, long deadlineNanos) {
    call = assigned;
    lostHandler = () -> {};
    Consumer<JsonSlice> progress =
        assigned.streaming() ? params -> publish("progress", params) : null;
    Span span =
        CallSpans.upstream(bus.telemetry().tracer(), assigned)
            .set(Conventions.NETWORK_TRANSPORT, "pipe")
            .set(Conventions.CONTAINER, transport.id());
    exchange =
        session.send(
            new Exchange.Request(
                assigned.target().kind().method(),
                assigned.params(),
                deadlineNanos,
                span.in(assigned.envelope()),
                progress));
    CallSpans.untilAnswered(exchange.response(), span);
    return exchange.response();
  }

  void cancel(BridgeException why) {
    session.cancel(exchange, why);
  }

  /** How the container ended; null if it did not end by itself. */
  ContainerEngine.End end() {
    return transport.end();
  }

  ExecutionEnvironment environment() {
    return new ExecutionEnvironment(container.image(), transport.image().id(), transport.id());
  }

  Future<Void> discard() {
    lostHandler = () -> {};
    return transport.discard();
  }

  @Override
  public void notificationReceived(RpcMessage notification) {
    if (call != null
        && call.streaming()
        && notification.method().equals(McpMethod.MESSAGE)
        && notification.payload() != null) {
      publish("message", notification.payload());
    }
  }

  @Override
  public Future<JsonSlice> requestReceived(String method, JsonSlice params) {
    if (call == null) {
      return Future.failedFuture("No call is running in this container");
    }
    ServerRequest serverRequest = new ServerRequest(method, params);
    if (!serverRequest.isFor(call.envelope())) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.METHOD_NOT_FOUND, "The client of this call does not offer " + method));
    }
    exchange.pause();
    return bus.request(Addresses.clientRequest(call.id()), serverRequest)
        .onComplete(done -> exchange.resume());
  }

  private void publish(String name, JsonSlice params) {
    bus.publish(Addresses.callEvents(call.id()), new CallEvent(name, params));
  }

  @Override
  public void lost(int garbageLines, int droppedMessages) {
    // only counted for supervised servers, not for the container of a single call
  }

  @Override
  public void closed(String reason) {
    lostHandler.run();
  }
}
