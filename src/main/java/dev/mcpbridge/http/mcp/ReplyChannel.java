package dev.mcpbridge.http.mcp;

import dev.mcpbridge.protocol.JsonSlice;

/** Where the answer to one request goes, and what comes before it. */
interface ReplyChannel {
  /** Whether something can be sent ahead of the answer. */
  boolean takesStream();

  /** Sends a notification or a question ahead of the answer; false where nothing can be. */
  boolean send(JsonSlice message);

  /**
   * Answers.
   *
   * @param status of HTTP, where it is still to be said
   */
  void finish(int status, JsonSlice message);
}
