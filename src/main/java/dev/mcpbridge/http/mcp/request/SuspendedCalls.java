package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Resumptions;
import dev.mcpbridge.bus.Resumptions.Resumption;
import dev.mcpbridge.bus.Resumptions.Withdrawal;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RandomIds;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Calls of stateless clients that wait for input: a server with a session has sent a request, which
 * is returned as {@code input_required} while the call continues at the server. The client's next
 * request, at any node, finds the call by its {@code requestState}: the number and the start of the
 * node where the call waits, and 128 random bits, valid once, for the same principal and the same
 * request. An unanswered server request fails after five minutes. Confined to the HTTP verticle.
 */
public final class SuspendedCalls {
  private static final String KEY = "input";
  private static final Pattern STATE = Pattern.compile("(\\d{1,9})\\.(\\d{1,18})\\.([0-9a-f]{32})");
  private static final long TIMEOUT_MILLIS = 300_000;
  private static final long WITHDRAWAL_MILLIS = 1_000;

  private final Vertx vertx;
  private final Bus bus;
  private final Cluster cluster;
  private final RequestStates states;
  private final Map<String, WaitingCall> waiting = new HashMap<>();

  /** The calls whose client waits for the next result, by the id that its request named. */
  private final Map<String, SuspendedCall> resumed = new HashMap<>();

  /** A running call that may send requests, and the client request that gets its next result. */
  final class SuspendedCall {
    private final String principal;
    private final CallIntent callIntent;
    private final Consumer<BridgeException> canceller;
    private final Deque<JsonSlice> queuedResults = new ArrayDeque<>();
    private Promise<JsonSlice> nextResult = Promise.promise();

    private SuspendedCall(
        String principal, CallIntent callIntent, Consumer<BridgeException> canceller) {
      this.principal = principal;
      this.callIntent = callIntent;
      this.canceller = canceller;
    }

    /** The result of the call, or {@code input_required} for its next request. */
    Future<JsonSlice> nextResult() {
      return nextResult.future();
    }

    /** The next result, for the client's next request. */
    private Future<JsonSlice> awaitNext() {
      nextResult = Promise.promise();
      if (!queuedResults.isEmpty()) {
        nextResult.complete(queuedResults.poll());
      }
      return nextResult.future();
    }

    /** Completes the waiting client request with the outcome of the call. */
    SuspendedCall follow(Future<JsonSlice> outcome) {
      outcome.onComplete(
          result -> nextResult.tryComplete(result), failure -> nextResult.tryFail(failure));
      outcome.onComplete(done -> waiting.values().removeIf(entry -> entry.call() == this));
      return this;
    }

    /** Handles a request of the server; the client's next request completes it. */
    Future<JsonSlice> ask(ServerRequest serverRequest) {
      String id = RandomIds.next();
      Promise<JsonSlice> answer = Promise.promise();
      waiting.put(id, new WaitingCall(this, serverRequest, answer));
      JsonSlice result = inputRequired(serverRequest, id);
      if (!nextResult.tryComplete(result)) {
        queuedResults.add(result);
      }
      long timer =
          vertx.setTimer(TIMEOUT_MILLIS, t -> answer.tryFail("The client did not respond in time"));
      return answer
          .future()
          .onComplete(done -> vertx.cancelTimer(timer))
          .onComplete(done -> waiting.remove(id));
    }
  }

  private record WaitingCall(
      SuspendedCall call, ServerRequest serverRequest, Promise<JsonSlice> answer) {}

  public SuspendedCalls(Vertx vertx, Bus bus, Cluster cluster, RequestStates states) {
    this.vertx = vertx;
    this.bus = bus;
    this.cluster = cluster;
    this.states = states;
    bus.serve(Resumptions.at(0), this::resume);
    bus.serve(
        Resumptions.withdrawalAt(0),
        gone ->
            Future.succeededFuture(
                withdraw(gone, new BridgeException(ErrorCode.CANCELLED, "The client has left"))));
  }

  SuspendedCall open(
      McpRequest request, CallIntent callIntent, Consumer<BridgeException> canceller) {
    return new SuspendedCall(request.caller().name(), callIntent, canceller);
  }

  boolean isResumption(McpRequest request) {
    return states.content(RequestStates.Kind.CALL, request) != null;
  }

  /**
   * Passes the input to the server and waits for the next result. A disconnect cancels the call.
   */
  Future<JsonSlice> resume(McpRequest request, CallIntent callIntent) {
    Matcher state = STATE.matcher(states.content(RequestStates.Kind.CALL, request));
    if (!state.matches()) {
      return Future.failedFuture(InputRequired.invalidState());
    }
    int slot = Integer.parseInt(state.group(1));
    long start = Long.parseLong(state.group(2));
    String id = state.group(3);
    Resumption resumption =
        new Resumption(
            id,
            request.caller().name(),
            callIntent.server(),
            callIntent.target(),
            callIntent.arguments(),
            InputRequired.answer(request, KEY));
    Withdrawal gone = new Withdrawal(id, request.caller().name());
    if (slot == cluster.slot() && start == cluster.incarnation()) {
      Future<JsonSlice> next = resume(resumption);
      request.cancellation().onCancel(cause -> withdraw(gone, cause));
      return next;
    }
    if (!cluster.isAlive(slot, start)) {
      return Future.failedFuture(
          new BridgeException(
                  ErrorCode.NODE_LOST, "The node at which the call waited for input is lost")
              .withExecuted(Executed.UNKNOWN));
    }
    Future<JsonSlice> next = bus.request(Resumptions.at(slot), resumption);
    request.cancellation().onCancel(cause -> withdrawAt(slot, gone, next));
    return next.recover(failure -> Future.failedFuture(begun(failure)));
  }

  /** The call runs already, whether or not its node has got the input. */
  private static BridgeException begun(Throwable cause) {
    BridgeException failure = BridgeException.of(cause);
    return failure.code() == ErrorCode.NODE_UNREACHABLE
        ? failure.withExecuted(Executed.UNKNOWN)
        : failure;
  }

  /** Repeated until the call has ended, since it may arrive before the input, or not at all. */
  private void withdrawAt(int slot, Withdrawal gone, Future<JsonSlice> next) {
    bus.request(Resumptions.withdrawalAt(slot), gone);
    vertx.setTimer(
        WITHDRAWAL_MILLIS,
        t -> {
          if (!next.isComplete()) {
            withdrawAt(slot, gone, next);
          }
        });
  }

  /** Continues a call that waits at this node, for a request of this or of another one. */
  private Future<JsonSlice> resume(Resumption resumption) {
    String id = resumption.id();
    WaitingCall waitingCall = waiting.get(id);
    CallIntent callIntent =
        new CallIntent(resumption.server(), resumption.target(), resumption.arguments());
    if (waitingCall == null
        || !waitingCall.call().principal.equals(resumption.principal())
        || !waitingCall.call().callIntent.equals(callIntent)) {
      return Future.failedFuture(InputRequired.invalidState());
    }
    if (resumption.answer() == null) {
      return Future.succeededFuture(inputRequired(waitingCall.serverRequest(), id));
    }
    waiting.remove(id);
    SuspendedCall call = waitingCall.call();
    resumed.put(id, call);
    Future<JsonSlice> next = call.awaitNext().onComplete(done -> resumed.remove(id));
    waitingCall.answer().tryComplete(resumption.answer().detached());
    return next;
  }

  /** The client that waits for the next result has left. */
  private boolean withdraw(Withdrawal gone, BridgeException cause) {
    SuspendedCall call = resumed.get(gone.id());
    boolean isOwn = call != null && call.principal.equals(gone.principal());
    if (isOwn) {
      call.canceller.accept(cause);
    }
    return isOwn;
  }

  private JsonSlice inputRequired(ServerRequest serverRequest, String id) {
    String state =
        states.of(RequestStates.Kind.CALL, cluster.slot() + "." + cluster.incarnation() + "." + id);
    return InputRequired.of(KEY, serverRequest.method(), serverRequest.params(), state);
  }
}
