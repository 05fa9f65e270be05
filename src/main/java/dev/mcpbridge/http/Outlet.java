package dev.mcpbridge.http;

import dev.mcpbridge.memory.MemoryBudget;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufHolder;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelProgressiveFuture;
import io.netty.channel.ChannelProgressiveFutureListener;
import io.netty.channel.ChannelProgressivePromise;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.PromiseNotifier;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.VertxConnection;

/**
 * What one connection has been given and its client has not taken: large answers are on the
 * bridge's account until the socket has them, or is gone. Confined to the connection's event loop.
 *
 * <p>Like {@link FlushTogether} it needs the pipeline; without it nothing is counted.
 */
final class Outlet extends ChannelOutboundHandlerAdapter {
  private final MemoryBudget memory;
  private ChannelHandlerContext place;
  private boolean hasMoved;
  private long behind;
  private long behindSinceNanos;
  private long movedNanos;

  private Outlet(MemoryBudget memory) {
    this.memory = memory;
  }

  static Outlet of(HttpConnection connection, MemoryBudget memory) {
    Outlet outlet = new Outlet(memory);
    if (connection instanceof VertxConnection netty) {
      ChannelHandlerContext ctx = netty.channelHandlerContext();
      ctx.pipeline().addBefore(ctx.name(), "outlet", outlet).addFirst(outlet.new Mouth());
    }
    return outlet;
  }

  /** Looks whether the client takes what it is given; to be called every second or so. */
  void look(long nowNanos) {
    long now = place == null ? 0 : place.channel().bytesBeforeWritable();
    if (now == 0 || behind == 0) {
      behindSinceNanos = nowNanos;
    }
    if (now != behind || hasMoved) {
      movedNanos = nowNanos;
    }
    behind = now;
    hasMoved = false;
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
  public void handlerAdded(ChannelHandlerContext ctx) {
    place = ctx;
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    int size = message instanceof ByteBufHolder holder ? holder.content().readableBytes() : 0;
    if (size < MemoryBudget.LARGE) {
      ctx.write(message, promise);
      return;
    }
    memory.given(size);
    ctx.write(message, promise.unvoid().addListener(written -> memory.taken(size)));
  }

  /**
   * Before the socket: what it takes of a large piece shows nowhere else until it has taken all.
   * With TLS no piece is large here.
   */
  private final class Mouth extends ChannelOutboundHandlerAdapter
      implements ChannelProgressiveFutureListener {

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
      if (message instanceof ByteBuf bytes && bytes.readableBytes() >= MemoryBudget.LARGE) {
        ChannelProgressivePromise watched = ctx.newProgressivePromise();
        watched.addListener(this).addListener(new PromiseNotifier<>(promise.unvoid()));
        ctx.write(message, watched);
      } else {
        ctx.write(message, promise);
      }
    }

    @Override
    public void operationProgressed(ChannelProgressiveFuture future, long progress, long total) {
      hasMoved = true;
    }

    @Override
    public void operationComplete(ChannelProgressiveFuture future) {
      hasMoved = true;
    }
  }
}
