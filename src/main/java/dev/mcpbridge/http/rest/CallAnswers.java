package dev.mcpbridge.http.rest;

import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.http.reply.ConfirmationJson;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.ext.web.RoutingContext;

/** How the outcome of a call looks over REST. */
public final class CallAnswers {
  private volatile int pendingStatus;

  /**
   * @param pendingStatus of an answer that asks for confirmation: 200 as in the original, or 202
   */
  public CallAnswers(int pendingStatus) {
    this.pendingStatus = pendingStatus;
  }

  /** Another status from now on; may be called from any thread. */
  public void reload(int otherStatus) {
    pendingStatus = otherStatus;
  }

  void send(RoutingContext ctx, CallOutcome outcome) {
    Replies.json(ctx, status(outcome), body(outcome));
  }

  int status(CallOutcome outcome) {
    return outcome instanceof CallOutcome.Completed ? 200 : pendingStatus;
  }

  static JsonSlice body(CallOutcome outcome) {
    return outcome instanceof CallOutcome.Completed completed
        ? completed.result()
        : ConfirmationJson.pending(((CallOutcome.NeedsConfirmation) outcome).pending());
  }
}
