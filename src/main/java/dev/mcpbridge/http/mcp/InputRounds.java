package dev.mcpbridge.http.mcp;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * {@code input_required} of a stateless server for a client with a session: its requests are put to
 * the client one after the other, and the call is made again with the answers (2026-07-28
 * basic/patterns/mrtr).
 */
final class InputRounds {
  private static final int MAX_ROUNDS = 16;
  private static final long PATIENCE_MILLIS = 300_000;

  private final McpRequest request;
  private final LegacySession session;
  private final Function<JsonSlice, Future<JsonSlice>> again;
  private int rounds;

  /**
   * @param again makes the call once more, with further members of its params
   */
  InputRounds(
      McpRequest request, LegacySession session, Function<JsonSlice, Future<JsonSlice>> again) {
    this.request = request;
    this.session = session;
    this.again = again;
  }

  /** The result, after as many rounds as the server wants. */
  Future<JsonSlice> settle(JsonSlice result) {
    Map<String, JsonSlice> members = JsonObjects.members(result);
    if (!"input_required".equals(JsonObjects.string(members.get("resultType")))) {
      return Future.succeededFuture(result);
    }
    if (++rounds > MAX_ROUNDS) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.UPSTREAM_PROTOCOL_ERROR, "The server asks for ever more input"));
    }
    JsonSlice requests = members.getOrDefault("inputRequests", JsonSlice.EMPTY_OBJECT);
    return answers(JsonObjects.members(requests))
        .compose(answers -> again.apply(extras(answers, members.get("requestState"))))
        .compose(this::settle);
  }

  private Future<JsonSlice> answers(Map<String, JsonSlice> requests) {
    List<String> keys = new ArrayList<>(requests.keySet());
    JsonWriter answers = new JsonWriter().beginObject();
    Future<Void> asked = Future.succeededFuture();
    for (String key : keys) {
      asked =
          asked
              .compose(done -> ask(JsonObjects.members(requests.get(key))))
              .map(
                  answer -> {
                    answers.member(key, answer);
                    return null;
                  });
    }
    return asked.map(done -> answers.endObject().toSlice());
  }

  private Future<JsonSlice> ask(Map<String, JsonSlice> question) {
    return session.ask(
        request,
        String.valueOf(JsonObjects.string(question.get("method"))),
        question.getOrDefault("params", JsonSlice.EMPTY_OBJECT),
        PATIENCE_MILLIS);
  }

  private static JsonSlice extras(JsonSlice answers, JsonSlice state) {
    JsonWriter out = new JsonWriter().beginObject().member("inputResponses", answers);
    if (state != null) {
      out.member("requestState", state);
    }
    return out.endObject().toSlice();
  }
}
