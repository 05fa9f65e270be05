package dev.mcpbridge.bus;

import io.vertx.core.Closeable;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.impl.ContextBuilderImpl;
import io.vertx.core.internal.CloseFuture;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.internal.WorkerPool;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The one event loop of a bridge. Vert.x deploys each verticle on its next loop; here all verticles
 * run on the same one, also on a Vert.x that has several. Thread-safe.
 */
public final class EventLoop {
  private static final String WORKERS = "mcp-bridge";
  private static final int WORKER_COUNT = 20;

  private final VertxInternal vertx;
  private final io.netty.channel.EventLoop thread;
  private final WorkerPool workers;

  /** Where the bridge works outside of its verticles. */
  private final ContextInternal context;

  private final Future<Deployment> base;

  /** Where callers without a context go on: what they open there is theirs. */
  private final ContextInternal outside;

  private volatile Closeable end;

  /** A deployed verticle. */
  public interface Deployment {
    /** Stops the verticle, then releases its timers, consumers and clients. */
    Future<Void> undeploy();
  }

  private EventLoop(VertxInternal vertx, WorkerPool workers) {
    this.vertx = vertx;
    this.thread = vertx.getOrCreateContext().nettyEventLoop();
    this.workers = workers;
    this.outside = vertx.contextBuilder().withEventLoop(thread).build();
    LoopDeployment around = new LoopDeployment(this, new VerticleBase() {});
    this.base = deploy(around);
    this.context = around.context();
  }

  /** The event loop of the calling verticle, or else the one that Vert.x gives to this thread. */
  public static EventLoop of(Vertx vertx) {
    return new EventLoop((VertxInternal) vertx, null);
  }

  /** The same, with worker threads of its own instead of those of Vert.x. */
  public static EventLoop withOwnWorkers(Vertx vertx) {
    VertxInternal all = (VertxInternal) vertx;
    return new EventLoop(
        all, all.createSharedWorkerPool(WORKERS, WORKER_COUNT, 1, TimeUnit.MINUTES));
  }

  /** A context of a deployment, on this event loop. */
  ContextInternal newContext(String deployment, CloseFuture opened) {
    return ((ContextBuilderImpl) vertx.contextBuilder())
        .withDeployment(deployment)
        .withEventLoop(thread)
        .withCloseFuture(opened)
        .withWorkerPool(workers)
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
   * Runs a task on the event loop, in a context of the bridge.
   *
   * @return completes for the caller as {@link #outside} says
   */
  public <T> Future<T> call(Supplier<Future<T>> task) {
    Promise<T> result = Promise.promise();
    context.runOnContext(v -> started(task).onComplete(result::complete, result::fail));
    return outside(result.future());
  }

  private static <T> Future<T> started(Supplier<Future<T>> task) {
    try {
      return task.get();
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  /**
   * The same future for the program that runs the bridge. It completes on the context that is
   * current now; for a thread without one, on the event loop in a context that is not the bridge's.
   */
  public <T> Future<T> outside(Future<T> inside) {
    Context current = Vertx.currentContext();
    Context caller = current == null ? outside : current;
    Promise<T> result = Promise.promise();
    inside.onComplete(
        done -> caller.runOnContext(v -> result.complete(done)),
        failure -> caller.runOnContext(v -> result.fail(failure)));
    return result.future();
  }

  /** Deploys a verticle. If it fails to start, what it has opened is released. */
  public Future<Deployment> deploy(Deployable verticle) {
    return deploy(new LoopDeployment(this, verticle));
  }

  private Future<Deployment> deploy(LoopDeployment deployment) {
    return vertx
        .deploymentManager()
        .deploy(null, outside, deployment)
        .map(deployed -> () -> vertx.undeploy(deployed.id()));
  }

  /** Runs a task when Vert.x is closed, while the event loop still runs; until {@link #close}. */
  public void beforeEnd(Supplier<Future<Void>> task) {
    end = done -> task.get().onComplete(done);
    vertx.addCloseHook(end);
  }

  /** Releases what was opened on the event loop outside of its verticles, and the threads. */
  public Future<Void> close() {
    if (end != null) {
      vertx.removeCloseHook(end);
    }
    return base.compose(Deployment::undeploy)
        .onComplete(
            closed -> {
              if (workers != null) {
                workers.close();
              }
            });
  }
}
