package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.http.mcp.reply.MessageStream;
import dev.mcpbridge.http.mcp.reply.ReplyChannel;
import dev.mcpbridge.protocol.JsonSlice;

/** Sends all messages on the single stream of an HTTP+SSE client. */
record StreamReply(MessageStream stream) implements ReplyChannel {
  @Override
  public boolean takesStream() {
    return true;
  }

  @Override
  public boolean send(JsonSlice message) {
    return stream.send(message);
  }

  @Override
  public void finish(int status, JsonSlice message) {
    stream.send(message);
  }
}
