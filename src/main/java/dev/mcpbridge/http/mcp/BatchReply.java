package dev.mcpbridge.http.mcp;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;

/**
 * The answers to the messages of a batch (2025-03-26 basic, batching), in the order in which they
 * come, as one array once all are there. What comes ahead of an answer is sent at once.
 */
final class BatchReply implements ReplyChannel {
  private final ReplyChannel whole;
  private final JsonWriter answers = new JsonWriter().beginArray();
  private int missing;

  /**
   * @param requests how many answers there will be
   */
  BatchReply(ReplyChannel whole, int requests) {
    this.whole = whole;
    this.missing = requests;
  }

  @Override
  public boolean takesStream() {
    return whole.takesStream();
  }

  @Override
  public boolean send(JsonSlice message) {
    return whole.send(message);
  }

  @Override
  public void finish(int status, JsonSlice message) {
    answers.value(message);
    if (--missing == 0) {
      whole.finish(200, answers.endArray().toSlice());
    }
  }
}
