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
import java.util.List;
import java.util.Map;

/** Converts an executor's responses, JSON or event streams, to tool results. Stateless. */
final class FunctionResponses {
  private static final int MAX_DEPTH = 1000;

  private FunctionResponses() {}

  static JsonSlice result(Response response, String id) {
    if (response.status() / 100 != 2) {
      throw failure(response, "status " + response.status());
    }
    byte[] body = response.body().getBytes();
    byte[] text = response.mediaType().equals("text/event-stream") ? lastEvent(body) : body;
    Map<String, JsonSlice> members = JsonObjects.members(responseTo(response, text, id));
    JsonSlice output = members.get("output");
    JsonSlice error = members.get("error");
    if (output == null && error == null) {
      throw failure(response, "a response without 'output'");
    }
    return output == null ? toolResult(error, true) : toolResult(output, isError(members, output));
  }

  private static JsonSlice responseTo(Response response, byte[] text, String id) {
    try {
      JsonSlice body = JsonScanner.strict(MAX_DEPTH).document(text, 0, text.length);
      JsonSlice list = JsonObjects.members(body).getOrDefault("tool_responses", JsonSlice.NULL);
      List<JsonSlice> responses = JsonObjects.elements(list);
      return responses.stream()
          .filter(each -> id.equals(id(each)))
          .findFirst()
          .orElseThrow(() -> failure(response, "no response for this call"));
    } catch (JsonSyntaxException e) {
      throw failure(response, "invalid JSON: " + e.getMessage());
    }
  }

  private static String id(JsonSlice response) {
    return JsonObjects.string(JsonObjects.members(response).get("tool_call_id"));
  }

  /** The data of the last event; earlier events are of no use for a single call. */
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
