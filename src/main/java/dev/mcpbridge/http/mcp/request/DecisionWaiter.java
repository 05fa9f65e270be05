package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.call.DecidedCalls;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcWriter;
import dev.mcpbridge.protocol.ToolResult;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Optional;

/**
 * Waits for an operator's decision if the client accepts progress notifications, which keep its
 * request from timing out. Any other client is answered at once.
 */
public final class DecisionWaiter {
  private static final int PROGRESS_SECONDS = 5;

  private final Vertx vertx;
  private final DecidedCalls decidedCalls;

  public DecisionWaiter(Vertx vertx, DecidedCalls decidedCalls) {
    this.vertx = vertx;
    this.decidedCalls = decidedCalls;
  }

  /** The result of the decided call; empty if the client does not wait. */
  Future<Optional<JsonSlice>> decision(McpRequest request, Confirmation confirmation) {
    JsonSlice token = request.progressToken();
    if (token == null || !request.replyChannel().takesStream()) {
      return Future.succeededFuture(Optional.empty());
    }
    // One that is not decided ends by its own expiry, which is earlier.
    long timeoutMillis = 2 * (confirmation.expiresAtMillis() - confirmation.createdAtMillis());
    int[] seconds = new int[1];
    sendProgress(request, token, 0);
    long timer =
        vertx.setPeriodic(
            PROGRESS_SECONDS * 1000L,
            t -> sendProgress(request, token, seconds[0] += PROGRESS_SECONDS));
    return decidedCalls
        .awaitOutcome(confirmation.id(), request.viewer(), timeoutMillis, request::isCancelled)
        .onComplete(done -> vertx.cancelTimer(timer))
        .compose(decidedCall -> decidedCall.outcome(null))
        .map(outcome -> Optional.ofNullable(outcome).map(DecisionWaiter::result))
        .recover(failure -> asToolError(confirmation, failure));
  }

  private static JsonSlice result(CallOutcome outcome) {
    return ((CallOutcome.Completed) outcome).result();
  }

  /** A model reads why its tool was not executed; any other request fails. */
  private static Future<Optional<JsonSlice>> asToolError(
      Confirmation confirmation, Throwable failure) {
    ErrorCode code = BridgeException.of(failure).code();
    boolean isUnexecuted = code == ErrorCode.FORBIDDEN || code == ErrorCode.CONFIRMATION_EXPIRED;
    return isUnexecuted && confirmation.call().target().kind() == Target.Kind.TOOL
        ? Future.succeededFuture(Optional.of(ToolResult.text(failure.getMessage()).error()))
        : Future.failedFuture(failure);
  }

  private static void sendProgress(McpRequest request, JsonSlice token, int seconds) {
    JsonSlice params =
        new JsonWriter()
            .beginObject()
            .member("progressToken", token)
            .member("progress", seconds)
            .member("message", "The call waits for approval")
            .endObject()
            .toSlice();
    request.replyChannel().send(RpcWriter.notification(McpMethod.PROGRESS, params).toSlice());
  }
}
