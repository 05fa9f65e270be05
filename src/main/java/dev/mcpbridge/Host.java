package dev.mcpbridge;

import dev.mcpbridge.bus.EventLoop;
import dev.mcpbridge.bus.EventLoop.Deployment;
import dev.mcpbridge.config.ThreadsConfig;
import dev.mcpbridge.server.SupervisorVerticle;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.file.FileSystemOptions;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Supplier;

/**
 * What a bridge runs on: a Vert.x of its own, which it closes, or that of another program, in which
 * it leaves nothing.
 */
final class Host {
  private final Vertx vertx;
  private final EventLoop loop;
  private final boolean isOwn;
  private final Deque<Deployment> deployed = new ConcurrentLinkedDeque<>();
  private EventLoopWatch watch;

  /** Keeps the threads of servers until the end, beyond the last task of a server. */
  private WorkerExecutor workers;

  private Host(Vertx vertx, boolean isOwn) {
    this.vertx = vertx;
    this.isOwn = isOwn;
    this.loop = isOwn ? EventLoop.of(vertx) : EventLoop.withOwnWorkers(vertx);
  }

  /** A Vert.x from {@link #vertx}. */
  static Host own(Vertx vertx) {
    return new Host(vertx, true);
  }

  /** The Vert.x of another program. */
  static Host shared(Vertx vertx) {
    return new Host(vertx, false);
  }

  /**
   * Creates the Vert.x of a bridge; needs no configuration. Without events for the flight recorder,
   * which Netty registers when it allocates its first buffer, the start is 70 ms shorter.
   */
  static Vertx newVertx() {
    System.getProperties().putIfAbsent("io.netty.jfr.enabled", "false");
    EventLoopWatch.disableVertxTimings();
    return Vertx.vertx(
        new VertxOptions()
            .setEventLoopPoolSize(1)
            .setFileSystemOptions(
                new FileSystemOptions()
                    .setFileCachingEnabled(false)
                    .setClassPathResolvingEnabled(false)));
  }

  /** Runs a task before the program closes its Vert.x without having closed the bridge. */
  void beforeEnd(Supplier<Future<Void>> task) {
    if (!isOwn) {
      loop.beforeEnd(task);
    }
  }

  Vertx vertx() {
    return vertx;
  }

  EventLoop loop() {
    return loop;
  }

  /** Starts the threads; another program watches its event loops itself. */
  void open(ThreadsConfig threads) {
    if (threads.serversOnWorkers()) {
      int processors = Runtime.getRuntime().availableProcessors();
      workers = vertx.createSharedWorkerExecutor(SupervisorVerticle.WORKER_POOL, processors);
    }
    if (isOwn) {
      watch = EventLoopWatch.of(vertx);
    }
  }

  /** Deploys a verticle on the event loop. */
  Future<Deployment> deploy(Deployable verticle) {
    return loop.deploy(verticle).onSuccess(deployed::push);
  }

  /** Has something closed at the end, after what is opened later. */
  void closeAtEnd(Supplier<Future<Void>> close) {
    deployed.push(close::get);
  }

  /** Undeploys a verticle before the others. */
  Future<Void> undeploy(Deployment deployment) {
    return deployment != null && deployed.remove(deployment)
        ? deployment.undeploy()
        : Future.succeededFuture();
  }

  /**
   * Closes what is left, the latest first, and ends the threads. The promise has no context, which
   * would end with them.
   */
  Future<Void> close() {
    if (watch != null) {
      watch.close();
    }
    Promise<Void> undeployed = Promise.promise();
    undeployAll().onComplete(ended -> undeployed.complete());
    return undeployed
        .future()
        .transform(ended -> workers == null ? Future.succeededFuture() : workers.close())
        .transform(ended -> loop.close())
        .transform(ended -> isOwn ? vertx.close() : Future.succeededFuture());
  }

  private Future<Void> undeployAll() {
    Deployment latest = deployed.poll();
    return latest == null
        ? Future.succeededFuture()
        : latest.undeploy().transform(ended -> undeployAll());
  }
}
