package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.request.McpRequest;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
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
  private final LegacySession session;
  private final Function<JsonSlice, Future<JsonSlice>> retry;
  private int rounds;

  /**
   * @param retry repeats the call with additional members of its params
   */
  InputRounds(
      McpRequest request, LegacySession session, Function<JsonSlice, Future<JsonSlice>> retry) {
    this.request = request;
    this.session = session;
    this.retry = retry;
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
    JsonSlice requests = members.getOrDefault("inputRequests", JsonSlice.EMPTY_OBJECT);
    return collectResponses(JsonObjects.members(requests))
        .compose(responses -> retry.apply(extras(responses, members.get("requestState"))))
        .compose(this::settle);
  }

  private Future<JsonSlice> collectResponses(Map<String, JsonSlice> requests) {
    List<String> keys = new ArrayList<>(requests.keySet());
    JsonWriter responses = new JsonWriter().beginObject();
    Future<Void> inputs = Future.succeededFuture();
    for (String key : keys) {
      inputs =
          inputs
              .compose(done -> sendToClient(JsonObjects.members(requests.get(key))))
              .map(
                  response -> {
                    responses.member(key, response);
                    return null;
                  });
    }
    return inputs.map(done -> responses.endObject().toSlice());
  }

  private Future<JsonSlice> sendToClient(Map<String, JsonSlice> inputRequest) {
    return session.sendRequest(
        request,
        String.valueOf(JsonObjects.string(inputRequest.get("method"))),
        inputRequest.getOrDefault("params", JsonSlice.EMPTY_OBJECT),
        TIMEOUT_MILLIS);
  }

  private static JsonSlice extras(JsonSlice responses, JsonSlice state) {
    JsonWriter out = new JsonWriter().beginObject().member("inputResponses", responses);
    if (state != null) {
      out.member("requestState", state);
    }
    return out.endObject().toSlice();
  }
}
