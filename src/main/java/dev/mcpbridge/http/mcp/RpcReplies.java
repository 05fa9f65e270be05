package dev.mcpbridge.http.mcp;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;

/** Writes JSON-RPC messages for clients. Stateless. */
final class RpcReplies {
  private RpcReplies() {}

  static JsonSlice result(JsonSlice id, JsonSlice result) {
    return new JsonWriter(result.length() + id.length() + 48)
        .beginObject()
        .member("jsonrpc", "2.0")
        .member("id", id)
        .member("result", result)
        .endObject()
        .toSlice();
  }

  static JsonSlice request(String id, String method, JsonSlice params) {
    return new JsonWriter(params.length() + 128)
        .beginObject()
        .member("jsonrpc", "2.0")
        .member("id", id)
        .member("method", method)
        .member("params", params)
        .endObject()
        .toSlice();
  }

  static JsonSlice notification(String method, JsonSlice params) {
    return new JsonWriter(params.length() + 128)
        .beginObject()
        .member("jsonrpc", "2.0")
        .member("method", method)
        .member("params", params)
        .endObject()
        .toSlice();
  }

  /**
   * An error response: an upstream's error as it was sent, or one of the bridge.
   *
   * @param id null if it could not be read
   */
  static JsonSlice error(JsonSlice id, BridgeException failure) {
    JsonWriter out =
        new JsonWriter()
            .beginObject()
            .member("jsonrpc", "2.0")
            .member("id", id == null ? JsonSlice.NULL : id)
            .name("error");
    if (failure.members().get("upstream") instanceof JsonSlice raw) {
      out.value(raw);
    } else {
      writeError(out, failure);
    }
    return out.endObject().toSlice();
  }

  private static void writeError(JsonWriter out, BridgeException failure) {
    ErrorCode code = failure.code();
    out.beginObject().member("code", code.rpcCode()).member("message", failure.getMessage());
    out.name("data")
        .beginObject()
        .member("code", code.slug())
        .member("executed", failure.executed().apiName())
        .member("retryable", code.retryable());
    failure.members().forEach((name, value) -> Problems.member(out, name, value));
    out.endObject().endObject();
  }
}
