package dev.mcpbridge.http.mcp;

import dev.mcpbridge.bus.Addresses.Viewer;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.call.DecidedCalls;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Optional;

/**
 * Waits for what an operator decides, for a client that hears of progress meanwhile: that is what
 * keeps its request from timing out. Any other client is answered at once.
 */
final class DecisionWait {
  private static final int PROGRESS_SECONDS = 5;

  private final Vertx vertx;
  private final DecidedCalls decided;

  DecisionWait(Vertx vertx, DecidedCalls decided) {
    this.vertx = vertx;
    this.decided = decided;
  }

  /** The answer, once there is one; empty where it expires, or the client does not wait. */
  Future<Optional<JsonSlice>> decision(McpRequest request, Confirmation confirmation) {
    JsonSlice token = request.progressToken();
    if (token == null || !request.replyChannel().takesStream()) {
      return Future.succeededFuture(Optional.empty());
    }
    Viewer viewer = Callers.viewer(request.client().principal());
    long patience = confirmation.expiresAtMillis() - confirmation.createdAtMillis();
    int[] waited = new int[1];
    tell(request, token, 0);
    long ticking =
        vertx.setPeriodic(
            PROGRESS_SECONDS * 1000L, t -> tell(request, token, waited[0] += PROGRESS_SECONDS));
    return decided
        .await(confirmation.id(), viewer, patience, () -> request.client().hasGivenUp(request))
        .onComplete(over -> vertx.cancelTimer(ticking))
        .compose(decidedCall -> decidedCall.outcome(null))
        .map(outcome -> Optional.ofNullable(outcome).map(DecisionWait::result))
        .recover(DecisionWait::explained);
  }

  private static JsonSlice result(CallOutcome outcome) {
    return ((CallOutcome.Completed) outcome).result();
  }

  private static Future<Optional<JsonSlice>> explained(Throwable failure) {
    ErrorCode code = BridgeException.of(failure).code();
    return switch (code) {
      case FORBIDDEN -> Future.succeededFuture(Optional.of(ToolErrors.of(failure.getMessage())));
      case CONFIRMATION_EXPIRED -> Future.succeededFuture(Optional.empty());
      default -> Future.failedFuture(failure);
    };
  }

  private static void tell(McpRequest request, JsonSlice token, int seconds) {
    JsonSlice params =
        new JsonWriter()
            .beginObject()
            .member("progressToken", token)
            .member("progress", seconds)
            .member("message", "The call waits for somebody to approve it")
            .endObject()
            .toSlice();
    request.replyChannel().send(RpcReplies.notification(McpMethod.PROGRESS, params));
  }
}
