package dev.mcpbridge.api;

import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.dialect.ContentBlock;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Collectors;

/** Makes outcomes of what the pipeline says; apart from them, whose type is public. Stateless. */
final class Outcomes {
  private Outcomes() {}

  /** The outcome of a call that did not fail. */
  static Outcome of(CallOutcome outcome) {
    return outcome instanceof CallOutcome.Completed completed
        ? completed(completed.result())
        : held(((CallOutcome.NeedsConfirmation) outcome).pending());
  }

  private static Outcome completed(JsonSlice result) {
    Map<String, JsonSlice> members = JsonObjects.members(result);
    JsonSlice isError = members.get("isError");
    return new Outcome.Completed(
        isError != null && isError.text().equals("true"),
        ContentBlock.of(members).stream()
            .map(ContentBlock::words)
            .collect(Collectors.joining("\n")),
        result.text());
  }

  private static Outcome held(PendingConfirmation pending) {
    return new Outcome.ConfirmationRequired(
        pending.confirmation().id(),
        pending.confirmation().call().server().name(),
        pending.confirmation().call().target().name(),
        pending.confirmation().call().arguments().text(),
        pending.confirmation().level().number(),
        Instant.ofEpochMilli(pending.confirmation().expiresAtMillis()),
        pending.token());
  }

  /** The outcome of a call that failed. */
  static Outcome of(Throwable failure) {
    BridgeException known = BridgeException.of(failure);
    return new Outcome.Failed(
        known.code().slug(), known.getMessage(), Outcome.Executed.valueOf(known.executed().name()));
  }
}
