package dev.mcpbridge.call;

import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.protocol.CacheNote;
import dev.mcpbridge.protocol.JsonSlice;

/** The outcome of a call that did not fail. */
public sealed interface CallOutcome {

  /**
   * The call was executed. This includes results with {@code isError}.
   *
   * @param result the MCP result, unchanged
   * @param note what it says about the cache; null without one
   */
  record Completed(JsonSlice result, CacheNote note) implements CallOutcome {
    public Completed(JsonSlice result) {
      this(result, CacheNote.of(result));
    }
  }

  /** A human has to approve the call first. */
  record NeedsConfirmation(PendingConfirmation pending) implements CallOutcome {}
}
