package dev.mcpbridge.http.mcp;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.ext.web.RoutingContext;
import java.util.function.Function;

/**
 * The answer to one POST: a JSON object, or an event stream from the moment on when something comes
 * before it, or it is long in coming, and the client takes one.
 */
final class PostReply implements ReplyChannel {
  final long sinceNanos = System.nanoTime();
  private final RoutingContext ctx;
  private final StreamSlots slots;
  private final Function<EventStream, MessageStream> streams;
  private final boolean takesStream;
  private Runnable left = () -> {};
  private Runnable settled = () -> {};
  private MessageStream stream;
  private boolean over;

  /**
   * @param streams makes a stream over the connection that was opened
   */
  PostReply(RoutingContext ctx, StreamSlots slots, Function<EventStream, MessageStream> streams) {
    this.ctx = ctx;
    this.slots = slots;
    this.streams = streams;
    this.takesStream = EventStream.isWanted(ctx);
    ctx.response().closeHandler(v -> gone());
  }

  @Override
  public boolean takesStream() {
    return takesStream;
  }

  /** Begins the stream, if the client takes one and there is none yet. */
  boolean open() {
    if (!takesStream || over) {
      return false;
    }
    if (stream != null) {
      return true;
    }
    if (ctx.response().closed() || ctx.response().headWritten()) {
      return false;
    }
    try {
      EventStream opened = slots.open(ctx).onClose(this::gone);
      stream = streams.apply(opened);
      return true;
    } catch (BridgeException overloaded) {
      return false;
    }
  }

  @Override
  public boolean send(JsonSlice message) {
    return open() && stream.send(message);
  }

  @Override
  public void finish(int status, JsonSlice message) {
    if (over) {
      return;
    }
    over = true;
    settled.run();
    if (stream == null) {
      Replies.json(ctx, status, message);
    } else {
      stream.finish(message);
    }
  }

  /** Runs once if the client goes away before it is answered. */
  void onLeave(Runnable handler) {
    left = handler;
  }

  /** Runs when it is answered, or its client has gone. */
  void onSettled(Runnable handler) {
    settled = handler;
  }

  private void gone() {
    if (!over) {
      Runnable once = left;
      left = () -> {};
      settled.run();
      once.run();
    }
  }
}
