package dev.mcpbridge.http.mcp.reply;

import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.http.reply.Challenges;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.ext.web.RoutingContext;
import java.util.function.Function;

/**
 * The reply to one POST: a JSON object, or an event stream if the client accepts one and a message
 * precedes the response or the response takes long.
 */
public final class PostReply implements ReplyChannel {
  final long sinceNanos = System.nanoTime();
  private final RoutingContext ctx;
  private final StreamSlots slots;
  private final Function<EventStream, MessageStream> streams;
  private final boolean takesStream;
  private Runnable disconnectHandler = () -> {};
  private Runnable settledHandler = () -> {};
  private MessageStream stream;
  private Compressed content;
  private boolean isFinished;

  /**
   * @param streams creates a stream over an open connection
   */
  PostReply(RoutingContext ctx, StreamSlots slots, Function<EventStream, MessageStream> streams) {
    this.ctx = ctx;
    this.slots = slots;
    this.streams = streams;
    this.takesStream = EventStream.isWanted(ctx);
    ctx.response().closeHandler(v -> disconnected());
  }

  @Override
  public boolean takesStream() {
    return takesStream;
  }

  /** Opens the stream unless it is open; false if the client accepts none or it is too late. */
  boolean open() {
    if (!takesStream || isFinished) {
      return false;
    }
    if (stream != null) {
      return true;
    }
    if (ctx.response().closed() || ctx.response().headWritten()) {
      return false;
    }
    try {
      EventStream opened = slots.open(ctx, Compressed.RESULTS).onClose(this::disconnected);
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
    if (isFinished) {
      return;
    }
    isFinished = true;
    settledHandler.run();
    if (stream == null) {
      Replies.json(ctx, status, message, content);
    } else {
      stream.finish(message, content == null);
    }
  }

  @Override
  public void compress(Compressed newContent) {
    content = newContent;
  }

  @Override
  public void challenge(BridgeException failure) {
    if (!isFinished) {
      Challenges.add(ctx, failure);
    }
  }

  /** Registers a handler that runs once if the client disconnects before the response. */
  public void onDisconnect(Runnable handler) {
    disconnectHandler = handler;
  }

  /** Registers a handler for the response or the disconnect. */
  void onSettled(Runnable handler) {
    settledHandler = handler;
  }

  private void disconnected() {
    if (!isFinished) {
      Runnable handler = disconnectHandler;
      disconnectHandler = () -> {};
      settledHandler.run();
      handler.run();
    }
  }
}
