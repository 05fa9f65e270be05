package dev.mcpbridge.http.mcp;

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
 * Makes the answers to POSTs, and begins the streams of those that are long in coming: the comments
 * on them keep proxies from taking the connection for dead, and in a session a client can come back
 * to them. Confined to the HTTP verticle.
 */
final class PostReplies {
  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long SWEEP_MILLIS = 1_000;

  private final StreamSlots slots;
  private final Set<PostReply> waiting = new LinkedHashSet<>();

  PostReplies(Vertx vertx, StreamSlots slots) {
    this.slots = slots;
    vertx.setPeriodic(SWEEP_MILLIS, t -> beginLongOnes());
  }

  /** One whose head has something to say that is not known yet, so it is not begun early. */
  PostReply whole(RoutingContext ctx) {
    return new PostReply(ctx, slots, MessageStream::on);
  }

  /** One that is over with its connection. */
  PostReply to(RoutingContext ctx) {
    return watched(ctx, MessageStream::on);
  }

  /** One whose client may come back for it. */
  PostReply to(RoutingContext ctx, LegacySession session) {
    return watched(ctx, session::begin);
  }

  /** The stream that a GET asks for. */
  EventStream stream(RoutingContext ctx) {
    return slots.open(ctx);
  }

  private PostReply watched(RoutingContext ctx, Function<EventStream, MessageStream> streams) {
    PostReply reply = new PostReply(ctx, slots, streams);
    if (reply.takesStream()) {
      waiting.add(reply);
      reply.onSettled(() -> waiting.remove(reply));
    }
    return reply;
  }

  private void beginLongOnes() {
    long horizon = System.nanoTime() - LONG_NANOS;
    List<PostReply> due =
        waiting.stream().takeWhile(reply -> reply.sinceNanos - horizon < 0).toList();
    due.forEach(
        reply -> {
          waiting.remove(reply);
          reply.open();
        });
  }
}
