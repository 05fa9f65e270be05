package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import java.util.Map;
import java.util.function.Function;

/**
 * Resolves {@code input_required} of a stateless server for a client with a session: sends the
 * requested inputs to the client one after the other and repeats the call with the responses
 * (2026-07-28 basic/patterns/mrtr).
 */
final class InputRounds {
  private static final int MAX_ROUNDS = 16;
  private static final long TIMEOUT_MILLIS = 300_000;

  private final McpRequest request;
  private final Function<JsonSlice, Future<JsonSlice>> repeat;
  private int rounds;

  /**
   * @param repeat repeats the call with additional members of its params
   */
  InputRounds(McpRequest request, Function<JsonSlice, Future<JsonSlice>> repeat) {
    this.request = request;
    this.repeat = repeat;
  }

  /** Returns the final result, after at most 16 rounds. */
  Future<JsonSlice> settle(JsonSlice result) {
    Map<String, JsonSlice> members = JsonObjects.members(result);
    if (!"input_required".equals(JsonObjects.string(members.get("resultType")))) {
      return Future.succeededFuture(result);
    }
    if (++rounds > MAX_ROUNDS) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.UPSTREAM_PROTOCOL_ERROR, "The server requires input in too many rounds"));
    }
    JsonSlice inputs = members.getOrDefault("inputRequests", JsonSlice.EMPTY_OBJECT);
    return responses(JsonObjects.members(inputs))
        .map(responses -> extras(responses, members.get("requestState")))
        .compose(repeat)
        .compose(this::settle);
  }

  private Future<JsonWriter> responses(Map<String, JsonSlice> inputs) {
    Future<JsonWriter> responses = Future.succeededFuture(new JsonWriter().beginObject());
    for (Map.Entry<String, JsonSlice> input : inputs.entrySet()) {
      responses =
          responses.compose(
              out ->
                  sendToClient(JsonObjects.members(input.getValue()))
                      .map(response -> out.member(input.getKey(), response)));
    }
    return responses;
  }

  private Future<JsonSlice> sendToClient(Map<String, JsonSlice> inputRequest) {
    String method = String.valueOf(JsonObjects.string(inputRequest.get("method")));
    JsonSlice params = inputRequest.getOrDefault("params", JsonSlice.EMPTY_OBJECT);
    return request.client().sendRequest(request, method, params, TIMEOUT_MILLIS);
  }

  private static JsonSlice extras(JsonWriter responses, JsonSlice state) {
    JsonWriter out =
        new JsonWriter().beginObject().member("inputResponses", responses.endObject().toSlice());
    if (state != null) {
      out.member("requestState", state);
    }
    return out.endObject().toSlice();
  }
}
