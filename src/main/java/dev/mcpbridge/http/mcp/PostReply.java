package dev.mcpbridge.http.mcp;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.ext.web.RoutingContext;

/**
 * The answer to one POST: a JSON object, or an event stream from the moment on when something comes
 * before it and the client takes one.
 */
final class PostReply implements Reply {
  private final RoutingContext ctx;
  private final StreamSlots streams;
  private final boolean takesStream;
  private Runnable left = () -> {};
  private EventStream stream;
  private boolean over;

  PostReply(RoutingContext ctx, StreamSlots streams) {
    this.ctx = ctx;
    this.streams = streams;
    this.takesStream = EventStream.isWanted(ctx);
    ctx.response().closeHandler(v -> gone());
  }

  @Override
  public boolean takesStream() {
    return takesStream;
  }

  @Override
  public boolean send(JsonSlice message) {
    if (!takesStream || over || ctx.response().closed()) {
      return false;
    }
    if (stream == null) {
      try {
        stream = streams.open(ctx).onClose(this::gone);
      } catch (BridgeException overloaded) {
        return false;
      }
    }
    stream.send("message", message);
    return true;
  }

  @Override
  public void finish(int status, JsonSlice message) {
    if (over) {
      return;
    }
    over = true;
    if (stream == null) {
      Replies.json(ctx, status, message);
    } else {
      stream.send("message", message);
      stream.end();
    }
  }

  /** Runs once if the client goes away before it is answered. */
  void onLeave(Runnable handler) {
    left = handler;
  }

  private void gone() {
    if (!over) {
      over = true;
      left.run();
    }
  }
}
