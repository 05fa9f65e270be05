package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;

/** A result that requests one input (2026-07-28 basic/patterns/mrtr). */
final class InputRequired {
  private InputRequired() {}

  /** A {@code requestState} that is unknown, used or bound to another request. */
  static BridgeException invalidState() {
    return new BridgeException(
        ErrorCode.INVALID_PARAMS, "The requestState is invalid, expired or of another request");
  }

  /** The client's input in a repeated request; null if it has none. */
  static JsonSlice answer(McpRequest request, String key) {
    JsonSlice responses = request.message().params().get("inputResponses");
    return responses == null ? null : JsonObjects.members(responses).get(key);
  }

  /**
   * @param key names the input in the client's next request
   * @param state identifies the suspended request
   */
  static JsonSlice of(String key, String method, JsonSlice params, String state) {
    return new JsonWriter(params.length() + 256)
        .beginObject()
        .member("resultType", "input_required")
        .name("inputRequests")
        .beginObject()
        .name(key)
        .beginObject()
        .member("method", method)
        .member("params", params)
        .endObject()
        .endObject()
        .member("requestState", state)
        .endObject()
        .toSlice();
  }
}
