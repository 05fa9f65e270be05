package dev.mcpbridge.call;

import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.protocol.JsonSlice;

/** The outcome of a call that did not fail. */
public sealed interface CallOutcome {

  /**
   * The call was executed. This includes results with {@code isError}.
   *
   * @param result the MCP result, unchanged
   */
  record Completed(JsonSlice result) implements CallOutcome {}

  /** A human has to approve the call first. */
  record NeedsConfirmation(PendingConfirmation pending) implements CallOutcome {}
}
