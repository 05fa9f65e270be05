package dev.mcpbridge.adapter.toolcall;

import dev.mcpbridge.adapter.HttpCaller.Response;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonScanner;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.SseReader;
import dev.mcpbridge.protocol.ToolResult;
import java.util.HashMap;
import java.util.Map;

/**
 * An executor's responses to the calls of a turn, JSON or an event stream, as tool results.
 *
 * @param byId what it has returned for each call
 */
record FunctionResponses(Response response, Map<String, JsonSlice> byId) {
  private static final int MAX_DEPTH = 1000;

  static FunctionResponses of(Response response) {
    if (response.status() / 100 != 2) {
      throw failure(response, "status " + response.status());
    }
    byte[] body = response.body().getBytes();
    byte[] text = response.mediaType().equals("text/event-stream") ? lastEvent(body) : body;
    Map<String, JsonSlice> byId = new HashMap<>();
    try {
      JsonSlice document = JsonScanner.strict(MAX_DEPTH).document(text, 0, text.length);
      JsonSlice list = JsonObjects.members(document).getOrDefault("tool_responses", JsonSlice.NULL);
      JsonObjects.elements(list).forEach(each -> byId.putIfAbsent(id(each), each));
    } catch (JsonSyntaxException e) {
      throw failure(response, "invalid JSON: " + e.getMessage());
    }
    return new FunctionResponses(response, byId);
  }

  /** The result of one call. */
  JsonSlice result(String id) {
    JsonSlice own = byId.get(id);
    if (own == null) {
      throw failure(response, "no response for this call");
    }
    Map<String, JsonSlice> members = JsonObjects.members(own);
    JsonSlice output = members.get("output");
    JsonSlice error = members.get("error");
    if (output == null && error == null) {
      throw failure(response, "a response without 'output'");
    }
    return output == null ? toolResult(error, true) : toolResult(output, isError(members, output));
  }

  private static String id(JsonSlice response) {
    return JsonObjects.string(JsonObjects.members(response).get("tool_call_id"));
  }

  /** The data of the last event; earlier events are of no use for a turn. */
  private static byte[] lastEvent(byte[] body) {
    byte[][] last = {new byte[0]};
    new SseReader(
            body.length, event -> last[0] = event.text().equals("[DONE]") ? last[0] : event.data())
        .feed(body);
    return last[0];
  }

  private static boolean isError(Map<String, JsonSlice> response, JsonSlice output) {
    Map<String, JsonSlice> members = JsonObjects.members(output);
    boolean hasOnlyError = members.size() == 1 && members.containsKey("error");
    return hasOnlyError || JsonSlice.of("true").equals(response.get("is_error"));
  }

  /** An object with only {@code result} or {@code error} is unwrapped. */
  private static JsonSlice toolResult(JsonSlice output, boolean isError) {
    Map<String, JsonSlice> members = JsonObjects.members(output);
    JsonSlice inner =
        members.size() == 1
            ? members.getOrDefault("result", members.getOrDefault("error", output))
            : output;
    String text = JsonObjects.string(inner);
    ToolResult result = ToolResult.text(text == null ? inner.text() : text);
    if (isError) {
      return result.error();
    }
    return inner.isObject() ? result.structured(inner).done() : result.done();
  }

  private static BridgeException failure(Response response, String problem) {
    boolean wasRefused = response.status() / 100 == 4;
    return new BridgeException(
            ErrorCode.UPSTREAM_ERROR, "The function executor returned " + problem)
        .withExecuted(wasRefused ? Executed.NO : Executed.UNKNOWN);
  }
}
