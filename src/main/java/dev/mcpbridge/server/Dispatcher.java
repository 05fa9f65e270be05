package dev.mcpbridge.server;

import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallQueue;
import dev.mcpbridge.model.Debouncer;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.session.Exchange;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Gives calls to instances: at once to the least busy one that has room, else in turns. What waits
 * is bounded and knows its deadline; a call that was given to an instance is never given to
 * another, unless the server proves that it did not look at it.
 */
final class Dispatcher {
  private static final long LOOK_MILLIS = 20;

  private final Vertx vertx;
  private final ServerConfig config;
  private final List<Instance> instances;
  private final Upstream.Listener listener;
  private final CallQueue waiting;
  private final Map<String, RunningCall> running = new HashMap<>();
  private final BooleanSupplier mayBegin;
  private final Debouncer look;
  private boolean dispatching;
  private BridgeException over;

  private record RunningCall(Call call, Instance instance, Exchange exchange) {}

  /**
   * @param mayBegin whether this node may begin a call at this moment
   * @param severalCallers whether callers can be told apart, at this moment
   */
  Dispatcher(
      Vertx vertx,
      ServerConfig config,
      List<Instance> instances,
      Upstream.Listener listener,
      BooleanSupplier mayBegin,
      BooleanSupplier severalCallers) {
    this.vertx = vertx;
    this.look = new Debouncer(vertx, LOOK_MILLIS, this::dispatch);
    this.mayBegin = mayBegin;
    this.config = config;
    this.instances = instances;
    this.listener = listener;
    this.waiting =
        new CallQueue(
            vertx,
            config.id(),
            config.supervision().maxQueued(),
            instances.size() * config.supervision().maxInFlight(),
            severalCallers);
  }

  int waiting() {
    return waiting.size();
  }

  Future<JsonSlice> submit(Call call) {
    Instance free = waiting.isFree(call) ? leastBusy() : null;
    if (free != null) {
      return run(call, free);
    }
    Future<JsonSlice> turn = waiting.add(call);
    dispatch();
    return turn;
  }

  /** Only a server that has forgotten the session says so, and then nothing was run. */
  private static boolean wasNotLookedAt(Throwable failure) {
    return failure instanceof BridgeException known
        && known.code() == ErrorCode.SERVER_UNAVAILABLE
        && known.executed() == Executed.NO;
  }

  /**
   * Gives out what waits, as far as there is room. A call that fails at once makes room for the
   * next one, which has its turn here and not within that call: any number may do so.
   */
  void dispatch() {
    if (dispatching) {
      return;
    }
    dispatching = true;
    try {
      Instance free = waiting.size() == 0 ? null : leastBusy();
      while (free != null) {
        Instance taken = free;
        CallQueue.TurnResult turnResult = waiting.next(call -> run(call, taken));
        free = turnResult == CallQueue.TurnResult.NOBODYS ? null : leastBusy();
      }
    } finally {
      dispatching = false;
    }
  }

  void refuseWaiting(BridgeException why) {
    waiting.refuse(why);
  }

  /** Refuses what waits, and what would have to wait from now on. */
  void close(BridgeException why) {
    over = why;
    refuseWaiting(why);
  }

  void cancel(String callId, BridgeException why) {
    RunningCall found = running.get(callId);
    if (found != null) {
      found.instance().cancel(found.exchange(), why);
    }
    waiting.cancel(callId, why);
  }

  /**
   * A log message over stdio belongs to no request, so it goes to a call only while that is the one
   * which runs there: nobody hears what concerns another.
   */
  void logged(Instance instance, JsonSlice params) {
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
   * A question of the server belongs to the call that runs there, and may go to its client if that
   * can answer; where several run, nobody can tell whose it is, and it is refused.
   */
  Future<JsonSlice> asked(Instance instance, ServerRequest serverRequest) {
    List<RunningCall> calls =
        running.values().stream().filter(r -> r.instance() == instance).toList();
    if (calls.size() == 1 && serverRequest.isFor(calls.get(0).call().envelope())) {
      RunningCall asked = calls.get(0);
      asked.exchange().pause();
      return listener
          .question(asked.call(), serverRequest)
          .onComplete(done -> asked.exchange().resume());
    }
    String why =
        calls.size() > 1 ? "More than one call runs, and " : "No client that runs a call here ";
    return Future.failedFuture(
        new BridgeException(
            ErrorCode.METHOD_NOT_FOUND,
            why
                + (calls.size() > 1
                    ? serverRequest.method() + " does not say which it belongs to"
                    : "offers " + serverRequest.method())));
  }

  private Future<JsonSlice> run(Call call, Instance instance) {
    Consumer<JsonSlice> progress =
        call.streaming() ? params -> listener.callEvent(call, "progress", params) : null;
    Exchange exchange =
        instance.send(
            new Exchange.Request(
                call.target().kind().method(),
                call.params(),
                call.deadlineNanos(),
                envelope(call),
                progress));
    running.put(call.id(), new RunningCall(call, instance, exchange));
    waiting.count(call, exchange.answer());
    return exchange
        .answer()
        .transform(
            done -> {
              running.remove(call.id());
              makeRoom();
              if (done.failed()) {
                return wasNotLookedAt(done.cause()) && !call.isLate()
                    ? again(call)
                    : Future.failedFuture(done.cause());
              }
              return result(done.result());
            });
  }

  /**
   * In a turn of its own: of calls that are given up together none begins in the place of another.
   */
  private void makeRoom() {
    if (waiting.size() > 0) {
      vertx.runOnContext(v -> dispatch());
    }
  }

  private Future<JsonSlice> again(Call call) {
    return over == null ? waiting.add(call) : Future.failedFuture(over);
  }

  /** A caller's own credential is for an API that is called here, and for no MCP server. */
  private Envelope envelope(Call call) {
    String authorization = call.caller().authorization();
    return authorization != null && config.upstreamTarget() instanceof OpenApiSource
        ? call.envelope().withMeta(MetaKeys.AUTHORIZATION, JsonObjects.quoted(authorization))
        : call.envelope();
  }

  private Future<JsonSlice> result(RpcMessage answer) {
    if (answer.payload().isObject() && answer.wellShaped()) {
      return Future.succeededFuture(answer.payload());
    }
    return Future.failedFuture(
        new BridgeException(
                ErrorCode.UPSTREAM_PROTOCOL_ERROR,
                "Server '" + config.id() + "' answered with a result that is none")
            .withExecuted(Executed.YES));
  }

  /** None while no call may be begun; what waits is looked at again. */
  private Instance leastBusy() {
    if (!mayBegin.getAsBoolean()) {
      look.ask();
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
