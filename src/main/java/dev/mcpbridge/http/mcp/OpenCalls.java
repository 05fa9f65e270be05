package dev.mcpbridge.http.mcp;

import dev.mcpbridge.bus.Addresses.Question;
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
final class OpenCalls {
  private static final String KEY = "input";
  private static final long PATIENCE_MILLIS = 300_000;

  private final Vertx vertx;
  private final String mark;
  private final Map<String, Waiting> waiting = new HashMap<>();

  /** A call that may ask while it runs, and the request that will get its next word. */
  final class OpenCall {
    private final String principal;
    private final Intent intent;
    private final McpRequest.Running running;
    private final Deque<JsonSlice> further = new ArrayDeque<>();
    private Promise<JsonSlice> word = Promise.promise();

    private OpenCall(String principal, Intent intent, McpRequest.Running running) {
      this.principal = principal;
      this.intent = intent;
      this.running = running;
    }

    /** Its result, or the next question in the form of one. */
    Future<JsonSlice> nextWord() {
      return word.future();
    }

    /** Takes the outcome, for whoever asked last. */
    OpenCall follow(Future<JsonSlice> outcome) {
      outcome.onComplete(result -> word.tryComplete(result), failure -> word.tryFail(failure));
      outcome.onComplete(done -> waiting.values().removeIf(open -> open.call() == this));
      return this;
    }

    /** A question of the server; answered by the client's next request. */
    Future<JsonSlice> ask(Question question) {
      String state = mark + Handles.next();
      Promise<JsonSlice> answer = Promise.promise();
      waiting.put(state, new Waiting(this, question, answer));
      if (!word.tryComplete(inputRequired(question, state))) {
        further.add(inputRequired(question, state));
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

  private record Waiting(OpenCall call, Question question, Promise<JsonSlice> answer) {}

  /**
   * @param mark what the states of this bridge begin with, and of no other
   */
  OpenCalls(Vertx vertx, String mark) {
    this.vertx = vertx;
    this.mark = mark + "call/";
  }

  OpenCall open(McpRequest request, Intent intent, McpRequest.Running running) {
    return new OpenCall(request.client().principal().name(), intent, running);
  }

  boolean isMeant(McpRequest request) {
    String state = request.message().text("requestState");
    return request.client() instanceof StatelessClient && state != null && state.startsWith(mark);
  }

  /**
   * Gives the server its answer, and waits for what it says next; leaving now gives the call up.
   */
  Future<JsonSlice> resume(McpRequest request, Intent intent) {
    String state = request.message().text("requestState");
    Waiting open = waiting.get(state);
    if (open == null
        || !open.call().principal.equals(request.client().principal().name())
        || !open.call().intent.equals(intent)) {
      return Future.failedFuture(InputRequired.foreignState());
    }
    JsonSlice responses = request.message().params().get("inputResponses");
    JsonSlice answer = responses == null ? null : JsonObjects.members(responses).get(KEY);
    if (answer == null) {
      return Future.succeededFuture(inputRequired(open.question(), state));
    }
    waiting.remove(state);
    open.call().word = Promise.promise();
    if (!open.call().further.isEmpty()) {
      open.call().word.complete(open.call().further.poll());
    }
    request.client().began(request, open.call().running);
    Future<JsonSlice> next = open.call().nextWord();
    open.answer().tryComplete(answer.detached());
    return next.onComplete(done -> request.client().ended(request));
  }

  private static JsonSlice inputRequired(Question question, String state) {
    return InputRequired.of(KEY, question.method(), question.params(), state);
  }
}
