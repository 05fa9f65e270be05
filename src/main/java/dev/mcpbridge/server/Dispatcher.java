package dev.mcpbridge.server;

import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.config.UpstreamTarget;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallQueue;
import dev.mcpbridge.model.Debouncer;
import dev.mcpbridge.protocol.CacheNote;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.session.Exchange;
import dev.mcpbridge.trace.CallSpans;
import dev.mcpbridge.trace.Conventions;
import dev.mcpbridge.trace.Span;
import dev.mcpbridge.trace.Telemetry;
import dev.mcpbridge.transport.HttpOrigin;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Dispatches calls to instances: to the least busy instance with a free slot, otherwise through a
 * bounded queue that is fair to callers and urgencies and enforces deadlines. A call that was sent
 * to one instance is never sent to another, unless the server proves that it did not process it.
 */
final class Dispatcher {
  private static final long RECHECK_MILLIS = 20;

  private final Context context;
  private final ServerConfig config;
  private final List<Instance> instances;
  private final Upstream.Listener listener;
  private final CallQueue waiting;
  private final Map<String, RunningCall> running = new HashMap<>();
  private final BooleanSupplier mayBegin;
  private final Debouncer recheck;
  private final Telemetry telemetry;
  private boolean dispatching;
  private BridgeException closedBecause;

  private record RunningCall(Call call, Instance instance, Exchange exchange) {}

  /**
   * @param mayBegin whether this node may start a call at this moment
   * @param sharing between whom the slots are shared
   */
  Dispatcher(
      Context context,
      ServerConfig config,
      List<Instance> instances,
      Upstream.Listener listener,
      BooleanSupplier mayBegin,
      CallQueue.Sharing sharing,
      Telemetry telemetry) {
    this.context = context;
    this.telemetry = telemetry;
    this.recheck = new Debouncer(context.owner(), RECHECK_MILLIS, this::dispatch);
    this.mayBegin = mayBegin;
    this.config = config;
    this.instances = instances;
    this.listener = listener;
    this.waiting =
        new CallQueue(
            context.owner(),
            config.id(),
            config.supervision().maxQueued(),
            instances.size() * config.supervision().maxInFlight(),
            sharing);
  }

  int waiting() {
    return waiting.size();
  }

  Future<JsonSlice> submit(Call call) {
    call.cancellation().check();
    call.cancellation().onCancel(reason -> context.runOnContext(v -> cancel(call.id(), reason)));
    Instance free = waiting.mayRunNow(call) ? leastBusy() : null;
    if (free != null) {
      return run(call, free);
    }
    Future<JsonSlice> turn = waiting.add(call);
    dispatch();
    return turn;
  }

  /**
   * Whether the server did not process the call: it reports that the session is unknown, so nothing
   * was executed.
   */
  private static boolean wasNotProcessed(Throwable failure) {
    return failure instanceof BridgeException cause
        && cause.code() == ErrorCode.SERVER_UNAVAILABLE
        && cause.executed() == Executed.NO;
  }

  /**
   * Dispatches queued calls while instances have free slots. A call that fails at once frees a slot
   * for the next one, which is started from this loop and not recursively: any number may do so.
   */
  void dispatch() {
    if (dispatching) {
      return;
    }
    dispatching = true;
    try {
      Instance free = waiting.size() == 0 ? null : leastBusy();
      while (free != null) {
        Instance instance = free;
        CallQueue.TurnResult turnResult =
            waiting.next((call, since) -> runQueued(call, instance, since));
        free = turnResult == CallQueue.TurnResult.NONE_ELIGIBLE ? null : leastBusy();
      }
    } finally {
      dispatching = false;
    }
  }

  void refuseWaiting(BridgeException reason) {
    waiting.failAll(reason);
  }

  /** Rejects all queued calls, and calls that would be queued from now on. */
  void close(BridgeException reason) {
    closedBecause = reason;
    refuseWaiting(reason);
  }

  private void cancel(String callId, BridgeException reason) {
    RunningCall found = running.get(callId);
    if (found != null) {
      found.instance().cancel(found.exchange(), reason);
    }
    waiting.cancel(callId, reason);
  }

  /**
   * A log message over stdio belongs to no request, so it is delivered to a call only while that
   * call is the only one on the instance. No caller sees messages about the call of another.
   */
  void forwardLogMessage(Instance instance, JsonSlice params) {
    List<Call> calls =
        running.values().stream()
            .filter(r -> r.instance() == instance)
            .map(RunningCall::call)
            .toList();
    if (params != null && calls.size() == 1 && calls.get(0).streaming()) {
      listener.callEvent(calls.get(0), "message", params);
    }
  }

  /**
   * A request of the server belongs to the call that runs on the instance, and is forwarded to its
   * client if the client supports it. While several calls run, it cannot be attributed and is
   * refused.
   */
  Future<JsonSlice> forwardRequest(Instance instance, ServerRequest serverRequest) {
    List<RunningCall> calls =
        running.values().stream().filter(r -> r.instance() == instance).toList();
    if (calls.size() == 1 && serverRequest.isFor(calls.get(0).call().envelope())) {
      RunningCall only = calls.get(0);
      only.exchange().pause();
      return listener
          .serverRequest(only.call(), serverRequest)
          .onComplete(done -> only.exchange().resume());
    }
    String reason =
        calls.size() > 1
            ? "Several calls are in flight, and it is unknown which one sent "
            : "No client with a call in flight supports ";
    return Future.failedFuture(
        new BridgeException(ErrorCode.METHOD_NOT_FOUND, reason + serverRequest.method()));
  }

  private Future<JsonSlice> runQueued(Call call, Instance instance, long sinceNanos) {
    CallSpans.queued(telemetry, call, sinceNanos);
    return run(call, instance);
  }

  private Future<JsonSlice> run(Call call, Instance instance) {
    Span span = CallSpans.upstream(telemetry.tracer(), call);
    peer(span);
    Exchange exchange = send(call.withEnvelope(span.in(call.envelope())), instance);
    CallSpans.untilAnswered(exchange.response(), span);
    running.put(call.id(), new RunningCall(call, instance, exchange));
    waiting.count(call, exchange.response());
    return exchange
        .response()
        .transform(
            done -> {
              running.remove(call.id());
              makeRoom();
              if (done.failed()) {
                return wasNotProcessed(done.cause()) && !call.isExpired()
                    ? requeue(call)
                    : Future.failedFuture(done.cause());
              }
              return result(done.result());
            });
  }

  /** Adds how the server is reached. */
  private void peer(Span span) {
    URI url = span.isRecorded() ? config.upstreamTarget().url() : null;
    if (url != null) {
      span.set(Conventions.NETWORK_TRANSPORT, "tcp")
          .set(Conventions.SERVER_ADDRESS, url.getHost())
          .set(Conventions.SERVER_PORT, HttpOrigin.of(url).port());
    } else {
      span.set(Conventions.NETWORK_TRANSPORT, "pipe");
    }
  }

  private Exchange send(Call call, Instance instance) {
    Consumer<JsonSlice> progress =
        call.streaming() ? params -> listener.callEvent(call, "progress", params) : null;
    return instance.send(
        new Exchange.Request(
            call.target().kind().method(),
            call.params(),
            call.deadlineNanos(),
            envelope(call),
            progress));
  }

  /** In a later task: of calls that are cancelled together, none starts in the slot of another. */
  private void makeRoom() {
    if (waiting.size() > 0) {
      context.runOnContext(v -> dispatch());
    }
  }

  private Future<JsonSlice> requeue(Call call) {
    return closedBecause == null ? waiting.add(call) : Future.failedFuture(closedBecause);
  }

  /** Adds what only services get that are not MCP servers: the caller's own credential. */
  private Envelope envelope(Call call) {
    UpstreamTarget target = config.upstreamTarget();
    String authorization = call.caller().authorization();
    Envelope envelope = call.envelope();
    if (authorization != null && target.takesCredentials()) {
      envelope = envelope.withMeta(MetaKeys.AUTHORIZATION, JsonObjects.quoted(authorization));
    }
    if (target.isAdapter()) {
      long millis = (call.deadlineNanos() - System.nanoTime()) / 1_000_000;
      envelope = envelope.withMeta(MetaKeys.TIMEOUT, JsonSlice.of(Long.toString(millis)));
    }
    return envelope;
  }

  private Future<JsonSlice> result(RpcMessage answer) {
    if (answer.payload().isObject() && answer.wellShaped()) {
      return Future.succeededFuture(CacheNote.removedFrom(answer.payload()));
    }
    return Future.failedFuture(
        new BridgeException(
                ErrorCode.UPSTREAM_PROTOCOL_ERROR,
                "Server '" + config.id() + "' returned an invalid result")
            .withExecuted(Executed.YES));
  }

  /**
   * The instance with a free slot and the fewest calls, or null. Also null while no call may be
   * started; the queue is then checked again later.
   */
  private Instance leastBusy() {
    if (!mayBegin.getAsBoolean()) {
      recheck.schedule();
      return null;
    }
    Instance best = null;
    for (Instance instance : instances) {
      if (instance.hasRoom() && (best == null || instance.inFlight() < best.inFlight())) {
        best = instance;
      }
    }
    return best;
  }
}
