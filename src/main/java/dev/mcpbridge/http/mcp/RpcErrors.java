package dev.mcpbridge.http.mcp;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.RpcWriter;

/** Failures as JSON-RPC errors for clients. Stateless. */
final class RpcErrors {
  private RpcErrors() {}

  /**
   * An error response: an upstream's error as it was sent, or one of the bridge.
   *
   * @param id null if it could not be read
   */
  static JsonSlice response(JsonSlice id, BridgeException failure) {
    JsonSlice error =
        failure.members().get("upstream") instanceof JsonSlice raw ? raw : error(failure);
    return RpcWriter.error(id == null ? JsonSlice.NULL : id, error).toSlice();
  }

  private static JsonSlice error(BridgeException failure) {
    ErrorCode code = failure.code();
    JsonWriter out =
        new JsonWriter()
            .beginObject()
            .member("code", code.rpcCode())
            .member("message", failure.getMessage())
            .name("data")
            .beginObject()
            .member("code", code.slug())
            .member("executed", failure.executed().apiName())
            .member("retryable", code.retryable());
    failure.members().forEach((name, value) -> Problems.member(out, name, value));
    return out.endObject().endObject().toSlice();
  }
}
