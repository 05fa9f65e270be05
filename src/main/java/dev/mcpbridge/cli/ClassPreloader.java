package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.config.ConfigSchema;
import io.vertx.core.Vertx;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Loads the classes that every bridge needs in a background thread, while the command line and the
 * configuration are read. Class loading takes most of the start-up time.
 */
final class ClassPreloader {
  private static final FutureTask<Vertx> VERTX = new FutureTask<>(Bridge::vertx);
  private static final Thread PRELOAD = new Thread(ClassPreloader::preload, "mcp-head-start");

  private ClassPreloader() {}

  static void start() {
    disableFlightRecorderEvents();
    PRELOAD.setDaemon(true);
    PRELOAD.start();
  }

  /**
   * Netty registers JFR events when it allocates its first buffer, even if nothing is recorded.
   * That initializes the flight recorder and adds 70 ms to the start.
   */
  private static void disableFlightRecorderEvents() {
    System.getProperties().putIfAbsent("io.netty.jfr.enabled", "false");
  }

  /** The Vert.x of the preload; created now if the preload has not started. */
  static Vertx vertx() throws InterruptedException, ExecutionException {
    VERTX.run();
    return VERTX.get();
  }

  /** Closes the Vert.x of a bridge that failed to start, once the preload no longer uses it. */
  static void close() throws InterruptedException {
    PRELOAD.join();
    try {
      vertx().close().await(10, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // the process exits anyway
    }
  }

  private static void preload() {
    try {
      ConfigSchema.root();
      Bridge.warmUp(vertx());
    } catch (Exception e) {
      // only the head start is lost: vertx() reports the failure to its caller
    }
  }
}
