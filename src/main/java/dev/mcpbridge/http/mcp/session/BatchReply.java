package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.http.mcp.reply.ReplyChannel;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;

/**
 * Collects the responses to a batch (2025-03-26 basic, batching) and sends them as one array, in
 * the order in which they complete. Messages ahead of a response are sent at once.
 */
final class BatchReply implements ReplyChannel {
  private final ReplyChannel channel;
  private final JsonWriter responses = new JsonWriter().beginArray();
  private int outstanding;

  /**
   * @param requests number of responses to wait for
   */
  BatchReply(ReplyChannel channel, int requests) {
    this.channel = channel;
    this.outstanding = requests;
  }

  @Override
  public boolean takesStream() {
    return channel.takesStream();
  }

  @Override
  public boolean send(JsonSlice message) {
    return channel.send(message);
  }

  @Override
  public void finish(int status, JsonSlice message) {
    responses.value(message);
    if (--outstanding == 0) {
      channel.finish(200, responses.endArray().toSlice());
    }
  }
}
