package dev.mcpbridge.adapter.grpc;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ToolResult;

/**
 * What a status other than OK means for a call: an error that its model can correct is a result of
 * the tool, any other a failure. Stateless.
 */
final class GrpcOutcome {
  private GrpcOutcome() {}

  /**
   * The result of the tool.
   *
   * @throws BridgeException if the call has failed, with whether it was executed
   */
  static JsonSlice of(GrpcStatus status, ErrorDetails details) {
    return switch (status.code()) {
      case 3, 5, 6, 7, 9, 10, 11, 16 -> toolError(status, details);
      case 4 -> throw failure(ErrorCode.DEADLINE_EXCEEDED, status, Executed.UNKNOWN);
      case 8 -> throw exhausted(status);
      default -> throw failure(ErrorCode.UPSTREAM_ERROR, status, Executed.UNKNOWN);
    };
  }

  private static BridgeException exhausted(GrpcStatus status) {
    BridgeException failure = failure(ErrorCode.RATE_LIMITED, status, Executed.UNKNOWN);
    long retryMillis = ErrorDetails.retryMillis(status);
    return retryMillis > 0 ? failure.withRetryAfter(retryMillis) : failure;
  }

  private static JsonSlice toolError(GrpcStatus status, ErrorDetails details) {
    ToolResult result = ToolResult.text(status.name() + ": " + status.message());
    details.texts(status).forEach(result::addText);
    return result.error();
  }

  private static BridgeException failure(ErrorCode code, GrpcStatus status, Executed executed) {
    return new BridgeException(
            code, "The gRPC server answered " + status.name() + ": " + status.message())
        .withExecuted(executed);
  }
}
