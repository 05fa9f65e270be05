package dev.mcpbridge.http;

import dev.mcpbridge.memory.MemoryBudget;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelProgressiveFuture;
import io.netty.channel.ChannelProgressiveFutureListener;
import io.netty.channel.ChannelProgressivePromise;
import io.netty.channel.ChannelPromise;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.PromiseNotifier;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.VertxConnection;

/**
 * The last that the bridge has of a connection before its socket. Confined to its event loop.
 *
 * <p>It lets the answers of one turn of the event loop go out after all of them are written.
 * Answers come in batches, as a pipe is read; flushed one by one, each wakes a client that has gone
 * to sleep after the one before. Worth a tenth of the throughput at 64 connections, and nothing at
 * one.
 *
 * <p>It knows what the client has been given and has not taken: large answers are on the bridge's
 * account until the socket has them, or is gone.
 *
 * <p>Vert.x has no public way to the pipeline of an HTTP connection; where this one is gone, so is
 * all of that.
 */
final class ResponseBackpressure extends FlushConsolidationHandler
    implements ChannelProgressiveFutureListener {
  private static final int MAX_FLUSHES = 256;

  private final MemoryBudget memory;
  private ChannelHandlerContext place;
  private Runnable waiting;
  private long written;
  private long drained;
  private long behind;
  private long behindSinceNanos;
  private long movedNanos;

  private ResponseBackpressure(MemoryBudget memory) {
    super(MAX_FLUSHES, true);
    this.memory = memory;
  }

  static ResponseBackpressure of(HttpConnection connection, MemoryBudget memory) {
    ResponseBackpressure responseBackpressure = new ResponseBackpressure(memory);
    if (connection instanceof VertxConnection netty) {
      responseBackpressure.stand(netty.channelHandlerContext().pipeline());
    }
    return responseBackpressure;
  }

  /** Before encryption, which makes small pieces of large ones. */
  private void stand(ChannelPipeline pipeline) {
    ChannelHandlerContext encryption = pipeline.context(SslHandler.class);
    if (encryption == null) {
      pipeline.addFirst("outlet", this);
    } else {
      pipeline.addAfter(encryption.name(), "outlet", this);
    }
    place = pipeline.context(this);
  }

  /** Whether the client has taken nearly all of what it was given. */
  boolean isOpen() {
    return place == null || place.channel().isWritable();
  }

  /** Runs a task, one at most, when the client has done so. */
  void onceOpen(Runnable task) {
    waiting = task;
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
    super.channelWritabilityChanged(ctx);
    if (ctx.channel().isWritable()) {
      behind = 0;
      opened();
    }
  }

  private void opened() {
    Runnable next = waiting;
    waiting = null;
    if (next != null) {
      next.run();
    }
  }

  /** Looks whether the client takes what it is given; to be called every second or so. */
  void look(long nowNanos) {
    long now = place == null ? 0 : place.channel().bytesBeforeWritable();
    if (now == 0 || behind == 0) {
      behindSinceNanos = nowNanos;
    }
    if (behind == 0 || written - now > drained) {
      movedNanos = nowNanos;
      drained = written - now;
    }
    behind = now;
  }

  /** For how long the client has had more to take than sockets hold. */
  long behindNanos(long nowNanos) {
    return behind == 0 ? 0 : nowNanos - behindSinceNanos;
  }

  /** For how long it has taken none of that. */
  long stuckNanos(long nowNanos) {
    return behind == 0 ? 0 : nowNanos - movedNanos;
  }

  /** Closes the connection at once; Vert.x would wait until everything is sent. */
  void cut() {
    if (place != null) {
      place.close();
    }
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    int size = message instanceof ByteBuf bytes ? bytes.readableBytes() : 0;
    written += size;
    if (size < MemoryBudget.LARGE) {
      ctx.write(message, promise);
      return;
    }
    memory.given(size);
    ChannelProgressivePromise watched = ctx.newProgressivePromise();
    watched
        .addListener(this)
        .addListener(written -> memory.taken(size))
        .addListener(new PromiseNotifier<>(promise.unvoid()));
    ctx.write(message, watched);
  }

  /** What the socket takes of a large piece shows nowhere else until it has taken all. */
  @Override
  public void operationProgressed(ChannelProgressiveFuture future, long progress, long total) {
    drained = Long.MIN_VALUE;
  }

  @Override
  public void operationComplete(ChannelProgressiveFuture future) {
    drained = Long.MIN_VALUE;
  }
}
