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
import io.vertx.core.net.impl.ConnectionBase;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The Netty handler next to the socket of a connection: consolidates flushes and tracks what the
 * client has not read yet. Confined to the event loop.
 *
 * <p>Responses come in batches, as a pipe is read. Flushed one by one, each would wake a client
 * that has gone to sleep after the one before; those of one turn of the event loop are flushed
 * together. That is worth a tenth of the throughput at 64 connections, and nothing at one.
 *
 * <p>Large responses count as memory in use until the socket has taken them or is closed.
 *
 * <p>Vert.x has no public access to the pipeline of an HTTP connection. If this internal one is
 * gone, the handler is not installed and does nothing.
 */
final class ResponseBackpressure extends FlushConsolidationHandler
    implements ChannelProgressiveFutureListener {
  private static final int MAX_FLUSHES = 256;

  private final MemoryBudget memory;
  private ChannelHandlerContext handlerContext;
  private final Deque<Runnable> pendingTasks = new ArrayDeque<>();
  private long written;
  private long drained;
  private long backlog;
  private long backlogSinceNanos;
  private long progressNanos;

  private ResponseBackpressure(MemoryBudget memory) {
    super(MAX_FLUSHES, true);
    this.memory = memory;
  }

  static ResponseBackpressure of(HttpConnection connection, MemoryBudget memory) {
    ResponseBackpressure responseBackpressure = new ResponseBackpressure(memory);
    if (connection instanceof ConnectionBase netty) {
      responseBackpressure.install(netty.channelHandlerContext().pipeline());
    }
    return responseBackpressure;
  }

  /** Installed before encryption, which splits large buffers into small ones. */
  private void install(ChannelPipeline pipeline) {
    ChannelHandlerContext encryption = pipeline.context(SslHandler.class);
    if (encryption == null) {
      pipeline.addFirst("response-backpressure", this);
    } else {
      pipeline.addAfter(encryption.name(), "response-backpressure", this);
    }
    handlerContext = pipeline.context(this);
  }

  /** Whether the client has read nearly all that was written to it. */
  boolean isWritable() {
    return handlerContext == null || handlerContext.channel().isWritable();
  }

  /** Runs a task as soon as {@link #isWritable()} holds. */
  void onceWritable(Runnable task) {
    pendingTasks.add(task);
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
    super.channelWritabilityChanged(ctx);
    if (ctx.channel().isWritable()) {
      backlog = 0;
      runPendingTasks();
    }
  }

  private void runPendingTasks() {
    for (int i = pendingTasks.size(); i > 0; i--) {
      pendingTasks.remove().run();
    }
  }

  /** Measures the progress of the client; call it about once a second. */
  void sample(long nowNanos) {
    long unwritten = handlerContext == null ? 0 : handlerContext.channel().bytesBeforeWritable();
    if (unwritten == 0 || backlog == 0) {
      backlogSinceNanos = nowNanos;
    }
    if (backlog == 0 || written - unwritten > drained) {
      progressNanos = nowNanos;
      drained = written - unwritten;
    }
    backlog = unwritten;
  }

  /** Nanoseconds for which the client has had more to read than socket buffers hold. */
  long backlogNanos(long nowNanos) {
    return backlog == 0 ? 0 : nowNanos - backlogSinceNanos;
  }

  /** Nanoseconds for which it has read nothing of that. */
  long stalledNanos(long nowNanos) {
    return backlog == 0 ? 0 : nowNanos - progressNanos;
  }

  /** Closes the connection at once; Vert.x would wait until everything is written. */
  void closeNow() {
    if (handlerContext != null) {
      handlerContext.close();
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
    memory.addUnread(size);
    ChannelProgressivePromise progressPromise = ctx.newProgressivePromise();
    progressPromise
        .addListener(this)
        .addListener(done -> memory.removeUnread(size))
        .addListener(new PromiseNotifier<>(promise.unvoid()));
    ctx.write(message, progressPromise);
  }

  /** Progress within a large buffer is visible only here until all of it is written. */
  @Override
  public void operationProgressed(ChannelProgressiveFuture future, long progress, long total) {
    drained = Long.MIN_VALUE;
  }

  @Override
  public void operationComplete(ChannelProgressiveFuture future) {
    drained = Long.MIN_VALUE;
  }
}
