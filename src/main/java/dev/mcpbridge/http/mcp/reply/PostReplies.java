package dev.mcpbridge.http.mcp.reply;

import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.StreamSlots;
import io.vertx.core.Vertx;
import io.vertx.ext.web.RoutingContext;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Creates the replies to POSTs, and starts the event streams of those that take longer than five
 * seconds: its comments keep proxies from closing the connection, and a client of a session can
 * resume the stream. Confined to the HTTP verticle.
 */
public final class PostReplies {
  private static final long STREAM_AFTER_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long SWEEP_MILLIS = 1_000;

  private final StreamSlots slots;
  private final Set<PostReply> waiting = new LinkedHashSet<>();

  public PostReplies(Vertx vertx, StreamSlots slots) {
    this.slots = slots;
    vertx.setPeriodic(SWEEP_MILLIS, t -> openDueStreams());
  }

  /** A reply that is not streamed early, since its head depends on the result. */
  public PostReply whole(RoutingContext ctx) {
    return new PostReply(ctx, slots, MessageStream::on);
  }

  /** A reply that ends with its connection. */
  public PostReply to(RoutingContext ctx) {
    return to(ctx, MessageStream::on);
  }

  /**
   * A reply with a stream of its own kind.
   *
   * @param streams creates the stream over an open connection
   */
  public PostReply to(RoutingContext ctx, Function<EventStream, MessageStream> streams) {
    PostReply reply = new PostReply(ctx, slots, streams);
    if (reply.takesStream()) {
      waiting.add(reply);
      reply.onSettled(() -> waiting.remove(reply));
    }
    return reply;
  }

  /**
   * Opens the stream of a GET.
   *
   * @param content what its messages are; null if they may have secrets
   */
  public EventStream stream(RoutingContext ctx, Compressed content) {
    return slots.listen(ctx, content);
  }

  private void openDueStreams() {
    long horizon = System.nanoTime() - STREAM_AFTER_NANOS;
    List<PostReply> due =
        waiting.stream().takeWhile(reply -> reply.sinceNanos - horizon < 0).toList();
    due.forEach(
        reply -> {
          waiting.remove(reply);
          reply.open();
        });
  }
}
