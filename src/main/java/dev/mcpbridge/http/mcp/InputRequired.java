package dev.mcpbridge.http.mcp;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;

/** A result that asks for one input first (2026-07-28 basic/patterns/mrtr). */
final class InputRequired {
  private InputRequired() {}

  /** A state that was given to another request, or is used up. */
  static BridgeException foreignState() {
    return new BridgeException(
        ErrorCode.INVALID_PARAMS, "requestState is not, or not any more, one of this request");
  }

  /**
   * @param key under which the answer comes
   * @param state with which the client finds its way back
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
