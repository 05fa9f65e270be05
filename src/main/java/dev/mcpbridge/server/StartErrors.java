package dev.mcpbridge.server;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;

/**
 * What whoever wants something of a server hears while it takes no calls.
 *
 * @param mayMove whether another node may have it next
 */
record StartErrors(ServerId server, boolean mayMove) {

  /** Where there are other nodes one of them may have it next. */
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
            isOfTheContainer(failed) ? failed.code() : ErrorCode.SERVER_UNAVAILABLE,
            "Server '" + server + "' is down: " + failed.reason())
        .withExecuted(Executed.NO)
        .withRetryAfter(failed.nextTryMillis() - System.currentTimeMillis());
  }

  /** What somebody has to do something about before a try makes sense. */
  private static boolean isOfTheContainer(ServerState.Failed failed) {
    return switch (failed.code()) {
      case ISOLATION_UNAVAILABLE, IMAGE_NOT_FOUND, INVALID_SERVER -> true;
      default -> false;
    };
  }

  BridgeException startFailed(ServerState.Failed failed) {
    boolean late = failed.reason().contains("timed out");
    ErrorCode code =
        isOfTheContainer(failed)
            ? failed.code()
            : late ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.START_FAILED;
    return new BridgeException(code, "Failed to start server: " + failed.reason());
  }

  BridgeException stillStarting(ServerState state) {
    return new BridgeException(
            ErrorCode.SERVER_UNAVAILABLE,
            "Server is still starting up. Current state: " + state.word())
        .withRetryAfter(1000);
  }
}
