package dev.mcpbridge.http.mcp;

import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Calls of stateless clients at servers with a session that have asked something: the request is
 * answered with {@code input_required}, the call goes on at the server, and the client's next
 * request finds it again by its {@code requestState}. That is 128 random bits, good for the
 * principal and the request it was given to, and once. A question that nobody answers is refused
 * after five minutes.
 */
final class SuspendedCalls {
  private static final String KEY = "input";
  private static final long PATIENCE_MILLIS = 300_000;

  private final Vertx vertx;
  private final String mark;
  private final Map<String, WaitingCall> waiting = new HashMap<>();

  /** A call that may ask while it runs, and the request that will get its next word. */
  final class SuspendedCall {
    private final String principal;
    private final CallIntent callIntent;
    private final McpRequest.RunningCall runningCall;
    private final Deque<JsonSlice> further = new ArrayDeque<>();
    private Promise<JsonSlice> word = Promise.promise();

    private SuspendedCall(
        String principal, CallIntent callIntent, McpRequest.RunningCall runningCall) {
      this.principal = principal;
      this.callIntent = callIntent;
      this.runningCall = runningCall;
    }

    /** Its result, or the next question in the form of one. */
    Future<JsonSlice> nextWord() {
      return word.future();
    }

    /** Takes the outcome, for whoever asked last. */
    SuspendedCall follow(Future<JsonSlice> outcome) {
      outcome.onComplete(result -> word.tryComplete(result), failure -> word.tryFail(failure));
      outcome.onComplete(done -> waiting.values().removeIf(open -> open.call() == this));
      return this;
    }

    /** A question of the server; answered by the client's next request. */
    Future<JsonSlice> ask(ServerRequest serverRequest) {
      String state = mark + RandomIds.next();
      Promise<JsonSlice> answer = Promise.promise();
      waiting.put(state, new WaitingCall(this, serverRequest, answer));
      if (!word.tryComplete(inputRequired(serverRequest, state))) {
        further.add(inputRequired(serverRequest, state));
      }
      long timer = vertx.setTimer(PATIENCE_MILLIS, t -> answer.tryFail("Nobody has answered"));
      return answer
          .future()
          .onComplete(
              done -> {
                vertx.cancelTimer(timer);
                waiting.remove(state);
              });
    }
  }

  private record WaitingCall(
      SuspendedCall call, ServerRequest serverRequest, Promise<JsonSlice> answer) {}

  /**
   * @param mark what the states of this bridge begin with, and of no other
   */
  SuspendedCalls(Vertx vertx, String mark) {
    this.vertx = vertx;
    this.mark = mark + "call/";
  }

  SuspendedCall open(
      McpRequest request, CallIntent callIntent, McpRequest.RunningCall runningCall) {
    return new SuspendedCall(request.client().principal().name(), callIntent, runningCall);
  }

  boolean isMeant(McpRequest request) {
    String state = request.message().text("requestState");
    return request.client() instanceof StatelessClient && state != null && state.startsWith(mark);
  }

  /**
   * Gives the server its answer, and waits for what it says next; leaving now gives the call up.
   */
  Future<JsonSlice> resume(McpRequest request, CallIntent callIntent) {
    String state = request.message().text("requestState");
    WaitingCall open = waiting.get(state);
    if (open == null
        || !open.call().principal.equals(request.client().principal().name())
        || !open.call().callIntent.equals(callIntent)) {
      return Future.failedFuture(InputRequired.foreignState());
    }
    JsonSlice responses = request.message().params().get("inputResponses");
    JsonSlice answer = responses == null ? null : JsonObjects.members(responses).get(KEY);
    if (answer == null) {
      return Future.succeededFuture(inputRequired(open.serverRequest(), state));
    }
    waiting.remove(state);
    open.call().word = Promise.promise();
    if (!open.call().further.isEmpty()) {
      open.call().word.complete(open.call().further.poll());
    }
    request.client().began(request, open.call().runningCall);
    Future<JsonSlice> next = open.call().nextWord();
    open.answer().tryComplete(answer.detached());
    return next.onComplete(done -> request.client().ended(request));
  }

  private static JsonSlice inputRequired(ServerRequest serverRequest, String state) {
    return InputRequired.of(KEY, serverRequest.method(), serverRequest.params(), state);
  }
}
