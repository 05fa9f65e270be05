package dev.mcpbridge.sandbox;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.ExecutionEnvironment;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RpcMessage;
import io.vertx.core.Future;

/** Converts outcomes of calls in containers to results and errors of the bridge. Stateless. */
final class ContainerOutcomes {
  private ContainerOutcomes() {}

  static Future<JsonSlice> result(
      ServerId server, RpcMessage response, ExecutionEnvironment environment) {
    return response.payload().isObject() && response.wellShaped()
        ? Future.succeededFuture(environment.addTo(response.payload()))
        : Future.failedFuture(
            new BridgeException(
                    ErrorCode.UPSTREAM_PROTOCOL_ERROR,
                    "Server '" + server + "' returned an invalid result")
                .withExecuted(Executed.YES));
  }

  /**
   * @param end how the container ended; null if it did not end by itself
   */
  static Future<JsonSlice> failure(ServerId server, Throwable cause, ContainerEngine.End end) {
    BridgeException failure = (BridgeException) cause;
    return Future.failedFuture(
        switch (failure.code()) {
          case UPSTREAM_CRASHED -> ended(server, failure, end);
          case DEADLINE_EXCEEDED ->
              unknown(
                  ErrorCode.SANDBOX_TIMEOUT,
                  "The call exceeded its deadline; its container of server '"
                      + server
                      + "' was destroyed");
          default -> failure;
        });
  }

  /** The error if no container can be provided for a call; the call was not executed. */
  static BridgeException unavailable(ServerId server, Throwable failure) {
    ErrorCode given = BridgeException.of(failure).code();
    ErrorCode code =
        given == ErrorCode.IMAGE_NOT_FOUND || given == ErrorCode.INVALID_SERVER
            ? given
            : ErrorCode.ISOLATION_UNAVAILABLE;
    return new BridgeException(
        code, "No container for server '" + server + "': " + failure.getMessage());
  }

  private static BridgeException ended(
      ServerId server, BridgeException failure, ContainerEngine.End end) {
    if (end != null && end.outOfMemory()) {
      return unknown(
          ErrorCode.SANDBOX_OUT_OF_MEMORY,
          "The container of server '" + server + "' ran out of memory");
    }
    return unknown(ErrorCode.SANDBOX_FAILED, failure.getMessage());
  }

  private static BridgeException unknown(ErrorCode code, String detail) {
    return new BridgeException(code, detail).withExecuted(Executed.UNKNOWN);
  }
}
