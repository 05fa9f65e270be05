package dev.mcpbridge.call;

import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.CacheNote;
import dev.mcpbridge.protocol.JsonSlice;
import java.nio.charset.StandardCharsets;

/** The outcome of a call that did not fail. */
public sealed interface CallOutcome {
  /** Whether it may have a secret of this bridge or of one behind it, beside the caller's text. */
  default boolean mayHaveSecret() {
    return true;
  }

  /**
   * The call was executed. This includes results with {@code isError}.
   *
   * @param result the MCP result, unchanged
   * @param note what it says about the cache; null without one
   */
  record Completed(JsonSlice result, CacheNote note, boolean mayHaveSecret) implements CallOutcome {
    /** The member of a question to the client (2026-07-28 basic/patterns/mrtr). */
    private static final byte[] STATE = "\"requestState\"".getBytes(StandardCharsets.US_ASCII);

    /** A result of unknown origin. */
    public Completed(JsonSlice result) {
      this(result, CacheNote.of(result), true);
    }

    /** A result of a server. Another bridge sends tokens and links, and asks with a state. */
    static Completed of(ServerView server, JsonSlice result) {
      boolean mayHaveSecret = server.identity().isBridge() || result.mentions(STATE);
      return new Completed(result, CacheNote.of(result), mayHaveSecret);
    }
  }

  /** A human has to approve the call first. */
  record NeedsConfirmation(PendingConfirmation pending) implements CallOutcome {}
}
