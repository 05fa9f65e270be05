package dev.mcpbridge.http.rest;

import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.http.reply.CacheFields;
import dev.mcpbridge.http.reply.ConfirmationJson;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.List;

/** Writes the outcome of a call as a REST response. */
public final class CallAnswers {
  private volatile int pendingStatus;

  /**
   * @param pendingStatus HTTP status if a call needs confirmation: 200 as in the original, or 202
   */
  public CallAnswers(int pendingStatus) {
    this.pendingStatus = pendingStatus;
  }

  /** Changes the status of calls that need confirmation. Thread-safe. */
  public void reload(int newStatus) {
    pendingStatus = newStatus;
  }

  void send(RoutingContext ctx, CallOutcome outcome) {
    if (outcome instanceof CallOutcome.Completed completed) {
      CacheFields.tell(ctx, completed.note());
    }
    Replies.json(ctx, status(outcome), body(outcome), content(outcome));
  }

  /** What the body of an outcome is; null if it may have a secret, as a confirmation has. */
  static Compressed content(CallOutcome outcome) {
    return outcome.mayHaveSecret() ? null : Compressed.RESULTS;
  }

  /** What a body with several outcomes is; null if one of them may have a secret. */
  static Compressed content(List<Future<CallOutcome>> outcomes) {
    boolean areResults =
        outcomes.stream().allMatch(end -> end.succeeded() && !end.result().mayHaveSecret());
    return areResults ? Compressed.RESULTS : null;
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
