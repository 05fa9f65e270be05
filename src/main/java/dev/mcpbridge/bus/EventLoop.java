package dev.mcpbridge.bus;

import io.vertx.core.Closeable;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.impl.ContextBuilderImpl;
import io.vertx.core.internal.CloseFuture;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/**
 * The one event loop of a bridge. Vert.x deploys each verticle on its next loop; here all verticles
 * run on the same one, also on a Vert.x that has several. Thread-safe.
 */
public final class EventLoop {
  private final VertxInternal vertx;
  private final io.netty.channel.EventLoop thread;
  private final CloseFuture resources = new CloseFuture();
  private final ContextInternal context;
  private volatile Closeable end;

  /** A deployed verticle. */
  public interface Deployment {
    /** Stops the verticle, then releases its timers, consumers and clients. */
    Future<Void> undeploy();
  }

  private EventLoop(VertxInternal vertx, io.netty.channel.EventLoop thread) {
    this.vertx = vertx;
    this.thread = thread;
    this.context = newContext(resources);
  }

  /** The event loop of the calling verticle, or else the one that Vert.x gives to this thread. */
  public static EventLoop of(Vertx vertx) {
    return new EventLoop(
        (VertxInternal) vertx, ((ContextInternal) vertx.getOrCreateContext()).nettyEventLoop());
  }

  /** With an identifier: the timers and consumers of a context without one outlive it. */
  private ContextInternal newContext(CloseFuture closed) {
    return ((ContextBuilderImpl) vertx.contextBuilder())
        .withDeployment(UUID.randomUUID().toString())
        .withEventLoop(thread)
        .withCloseFuture(closed)
        .build();
  }

  /** Whether the calling thread is that of the event loop. */
  public boolean isCurrent() {
    return thread.inEventLoop();
  }

  /** Runs a task on the event loop: at once if this is it. */
  public void run(Runnable task) {
    if (isCurrent()) {
      task.run();
    } else {
      context.runOnContext(v -> task.run());
    }
  }

  /** Runs a task that may block on a worker thread, on which this is the event loop of Vert.x. */
  public <T> Future<T> blocking(Callable<T> task) {
    return context.executeBlocking(task, false);
  }

  /**
   * Runs a task on the event loop.
   *
   * @return completes on the context of the caller; for a thread without one, on the event loop
   */
  public <T> Future<T> call(Supplier<Future<T>> task) {
    Context caller = Vertx.currentContext();
    Promise<T> result = Promise.promise();
    context.runOnContext(
        v ->
            started(task)
                .onComplete(
                    done -> settle(caller, () -> result.complete(done)),
                    failure -> settle(caller, () -> result.fail(failure))));
    return result.future();
  }

  private static <T> Future<T> started(Supplier<Future<T>> task) {
    try {
      return task.get();
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  private static void settle(Context caller, Runnable completion) {
    if (caller == null) {
      completion.run();
    } else {
      caller.runOnContext(v -> completion.run());
    }
  }

  /** Deploys a verticle. If it fails to start, what it has opened is released. */
  public Future<Deployment> deploy(Deployable verticle) {
    CloseFuture opened = new CloseFuture();
    ContextInternal own = newContext(opened);
    return on(own, () -> verticle.deploy(own))
        .recover(failure -> opened.close().transform(closed -> Future.failedFuture(failure)))
        .map(started -> () -> on(own, () -> verticle.undeploy(own)).eventually(opened::close));
  }

  private static Future<Void> on(ContextInternal context, Callable<Future<?>> task) {
    Promise<Object> done = Promise.promise();
    context.runOnContext(
        v -> {
          try {
            task.call().onComplete(done::complete, done::fail);
          } catch (Exception e) {
            done.fail(e);
          }
        });
    return done.future().mapEmpty();
  }

  /** Runs a task when Vert.x is closed, while the event loop still runs; until {@link #close}. */
  public void beforeEnd(Supplier<Future<Void>> task) {
    end = done -> task.get().onComplete(done);
    vertx.addCloseHook(end);
  }

  /** Releases what was opened on the event loop outside of its verticles. */
  public Future<Void> close() {
    if (end != null) {
      vertx.removeCloseHook(end);
    }
    return resources.close();
  }
}
