package dev.mcpbridge.http.mcp;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcError;

/**
 * Errors of servers with a handshake for stateless clients: codes of the old era are not spoken any
 * more, and those that the specification keeps for itself are not to be made up (2026-07-28
 * basic/index, error codes).
 */
final class StatelessErrors {
  private static final int FIRST_UNDEFINED = -32023;
  private static final int LAST_RESERVED = -32099;

  private StatelessErrors() {}

  /** The code that an error would have on the wire. */
  static int code(BridgeException failure) {
    return failure.members().get("upstream") instanceof JsonSlice raw
        ? RpcError.read(raw).code()
        : failure.code().rpcCode();
  }

  /** The failure as it may be said; the upstream's own words are kept. */
  static BridgeException of(Inbound message, BridgeException failure) {
    int code = code(failure);
    boolean reserved = code <= FIRST_UNDEFINED && code >= LAST_RESERVED;
    if (code == RpcError.RESOURCE_NOT_FOUND && message.method().equals(McpMethod.RESOURCES_READ)) {
      return new BridgeException(ErrorCode.INVALID_PARAMS, failure.getMessage())
          .with("uri", message.text("uri"));
    }
    if (code != RpcError.RESOURCE_NOT_FOUND && !reserved) {
      return failure;
    }
    return new BridgeException(ErrorCode.INTERNAL, failure.getMessage())
        .withExecuted(failure.executed())
        .with("upstreamError", failure.members().get("upstream"));
  }
}
