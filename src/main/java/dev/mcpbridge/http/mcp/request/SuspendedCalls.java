package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.error.BridgeException;
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

/**
 * Calls of stateless clients that wait for input: a server with a session has sent a request, which
 * is returned as {@code input_required} while the call continues at the server. The client's next
 * request finds the call by its {@code requestState}: 128 random bits, valid once, for the same
 * principal and the same request. An unanswered server request fails after five minutes.
 */
final class SuspendedCalls {
  private static final String KEY = "input";
  private static final long TIMEOUT_MILLIS = 300_000;

  private final Vertx vertx;
  private final String statePrefix;
  private final Map<String, WaitingCall> waiting = new HashMap<>();

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
      String state = statePrefix + RandomIds.next();
      Promise<JsonSlice> answer = Promise.promise();
      waiting.put(state, new WaitingCall(this, serverRequest, answer));
      JsonSlice result = inputRequired(serverRequest, state);
      if (!nextResult.tryComplete(result)) {
        queuedResults.add(result);
      }
      long timer =
          vertx.setTimer(TIMEOUT_MILLIS, t -> answer.tryFail("The client did not respond in time"));
      return answer
          .future()
          .onComplete(done -> vertx.cancelTimer(timer))
          .onComplete(done -> waiting.remove(state));
    }
  }

  private record WaitingCall(
      SuspendedCall call, ServerRequest serverRequest, Promise<JsonSlice> answer) {}

  /**
   * @param statePrefix prefix of the states of this bridge only
   */
  SuspendedCalls(Vertx vertx, String statePrefix) {
    this.vertx = vertx;
    this.statePrefix = statePrefix + "call/";
  }

  SuspendedCall open(
      McpRequest request, CallIntent callIntent, Consumer<BridgeException> canceller) {
    return new SuspendedCall(request.caller().name(), callIntent, canceller);
  }

  boolean isResumption(McpRequest request) {
    String state = request.requestState();
    return state != null && state.startsWith(statePrefix);
  }

  /**
   * Passes the input to the server and waits for the next result. A disconnect cancels the call.
   */
  Future<JsonSlice> resume(McpRequest request, CallIntent callIntent) {
    String state = request.requestState();
    WaitingCall waitingCall = waiting.get(state);
    if (waitingCall == null
        || !waitingCall.call().principal.equals(request.caller().name())
        || !waitingCall.call().callIntent.equals(callIntent)) {
      return Future.failedFuture(InputRequired.invalidState());
    }
    JsonSlice answer = InputRequired.answer(request, KEY);
    if (answer == null) {
      return Future.succeededFuture(inputRequired(waitingCall.serverRequest(), state));
    }
    waiting.remove(state);
    SuspendedCall call = waitingCall.call();
    Future<JsonSlice> next = call.awaitNext();
    request.cancellation().onCancel(call.canceller);
    waitingCall.answer().tryComplete(answer.detached());
    return next;
  }

  private static JsonSlice inputRequired(ServerRequest serverRequest, String state) {
    return InputRequired.of(KEY, serverRequest.method(), serverRequest.params(), state);
  }
}
