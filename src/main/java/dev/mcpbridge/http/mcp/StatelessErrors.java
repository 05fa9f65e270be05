package dev.mcpbridge.http.mcp;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcError;

/**
 * Maps errors of servers with a handshake for stateless clients: codes of the old era are replaced,
 * and codes that the specification reserves are not passed on (2026-07-28 basic/index, error
 * codes).
 */
final class StatelessErrors {
  private static final int FIRST_UNDEFINED = -32023;
  private static final int LAST_RESERVED = -32099;

  private StatelessErrors() {}

  /** The JSON-RPC code of a failure. */
  static int code(BridgeException failure) {
    return failure.members().get("upstream") instanceof JsonSlice raw
        ? RpcError.read(raw).code()
        : failure.code().rpcCode();
  }

  /** The failure with a permitted code; the upstream's message is kept. */
  static BridgeException of(ClientMessage message, BridgeException failure) {
    int code = code(failure);
    boolean reserved = code <= FIRST_UNDEFINED && code >= LAST_RESERVED;
    if (code == RpcError.RESOURCE_NOT_FOUND && message.method().equals(McpMethod.RESOURCES_READ)) {
      return new BridgeException(ErrorCode.INVALID_PARAMS, failure.getMessage())
          .with("uri", message.stringParam("uri"));
    }
    if (code != RpcError.RESOURCE_NOT_FOUND && !reserved) {
      return failure;
    }
    return new BridgeException(ErrorCode.INTERNAL, failure.getMessage())
        .withExecuted(failure.executed())
        .with("upstreamError", failure.members().get("upstream"));
  }
}
