package dev.mcpbridge.server;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;

/**
 * The errors that callers receive while a server takes no calls.
 *
 * @param mayMove whether another node may become the owner
 */
record StartErrors(ServerId server, boolean mayMove) {

  /** In a cluster the caller may retry, since another node may become the owner. */
  BridgeException stopping() {
    return new BridgeException(
        mayMove ? ErrorCode.NOT_OWNER : ErrorCode.SERVER_UNAVAILABLE,
        "Server '" + server + "' is being stopped");
  }

  static BridgeException refused(ServerState.Refused refusal) {
    return new BridgeException(refusal.code(), refusal.reason());
  }

  BridgeException unavailable(ServerState.Failed failed) {
    return new BridgeException(
            needsOperator(failed) ? failed.code() : ErrorCode.SERVER_UNAVAILABLE,
            "Server '" + server + "' is down: " + failed.reason())
        .withExecuted(Executed.NO)
        .withRetryAfter(failed.nextTryMillis() - System.currentTimeMillis());
  }

  /** Whether an operator has to fix the cause before another attempt can succeed. */
  private static boolean needsOperator(ServerState.Failed failed) {
    return switch (failed.code()) {
      case ISOLATION_UNAVAILABLE, IMAGE_NOT_FOUND, INVALID_SERVER -> true;
      default -> false;
    };
  }

  BridgeException startFailed(ServerState.Failed failed) {
    boolean isLate = failed.code() == ErrorCode.DEADLINE_EXCEEDED;
    ErrorCode code =
        needsOperator(failed)
            ? failed.code()
            : isLate ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.START_FAILED;
    return new BridgeException(code, "Failed to start server: " + failed.reason());
  }

  BridgeException stillStarting(ServerState state) {
    return new BridgeException(
            ErrorCode.SERVER_UNAVAILABLE,
            "Server is still starting up. Current state: " + state.apiName())
        .withRetryAfter(1000);
  }
}
