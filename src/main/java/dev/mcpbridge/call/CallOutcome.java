package dev.mcpbridge.call;

import dev.mcpbridge.bus.Addresses.PendingConfirmation;
import dev.mcpbridge.protocol.JsonSlice;

/** How a call that did not fail ends. */
public sealed interface CallOutcome {

  /**
   * It ran; a tool that says {@code isError} ran too.
   *
   * @param result the MCP result, unchanged
   */
  record Completed(JsonSlice result) implements CallOutcome {}

  /** A human has to agree first. */
  record NeedsConfirmation(PendingConfirmation pending) implements CallOutcome {}
}
