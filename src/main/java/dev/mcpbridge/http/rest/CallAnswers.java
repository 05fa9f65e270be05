package dev.mcpbridge.http.rest;

import dev.mcpbridge.bus.Addresses.PendingConfirmation;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.ext.web.RoutingContext;
import java.time.Instant;

/** How the outcome of a call looks over REST. */
public final class CallAnswers {
  private final int pendingStatus;

  /**
   * @param pendingStatus of an answer that asks for confirmation: 200 as in the original, or 202
   */
  public CallAnswers(int pendingStatus) {
    this.pendingStatus = pendingStatus;
  }

  void send(RoutingContext ctx, CallOutcome outcome) {
    Replies.json(ctx, status(outcome), body(outcome));
  }

  int status(CallOutcome outcome) {
    return outcome instanceof CallOutcome.Completed ? 200 : pendingStatus;
  }

  static JsonSlice body(CallOutcome outcome) {
    if (outcome instanceof CallOutcome.Completed completed) {
      return completed.result();
    }
    return confirmation(((CallOutcome.NeedsConfirmation) outcome).pending());
  }

  private static JsonSlice confirmation(PendingConfirmation pending) {
    JsonWriter out = new JsonWriter().beginObject().member("requires_confirmation", true);
    describe(out, pending.confirmation());
    if (pending.token() != null) {
      out.member("token", pending.token());
    }
    return out.endObject().toSlice();
  }

  /** What a human has to see before deciding: the original's fields, arguments and digest. */
  static void describe(JsonWriter out, Confirmation confirmation) {
    out.member("confirmation_id", confirmation.id())
        .member("risk_level", confirmation.level().number())
        .member("risk_description", confirmation.level().description())
        .member("server_id", confirmation.call().server().name())
        .member("method", confirmation.call().target().kind().method())
        .member("tool_name", confirmation.call().target().name())
        .member("expires_at", Instant.ofEpochMilli(confirmation.expiresAtMillis()).toString())
        .member("arguments", confirmation.call().arguments())
        .member("digest", confirmation.digest());
  }
}
