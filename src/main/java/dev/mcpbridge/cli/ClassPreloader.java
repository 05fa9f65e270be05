package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import io.vertx.core.Vertx;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Loading classes is most of a start. What serving needs in any case is loaded on another core
 * while the command line and the configuration are read.
 */
final class ClassPreloader {
  private static final FutureTask<Vertx> VERTX = new FutureTask<>(Bridge::vertx);
  private static final Thread REHEARSAL = new Thread(ClassPreloader::rehearse, "mcp-head-start");

  private ClassPreloader() {}

  static void begin() {
    withoutFlightRecorder();
    REHEARSAL.setDaemon(true);
    REHEARSAL.start();
  }

  /**
   * Netty defines events for the flight recorder when it takes its first buffer, whether or not
   * anybody records; that starts the recorder and takes 70 ms of a start.
   */
  private static void withoutFlightRecorder() {
    System.getProperties().putIfAbsent("io.netty.jfr.enabled", "false");
  }

  /** The Vert.x of the head start, made now if there was none. */
  static Vertx vertx() throws InterruptedException, ExecutionException {
    VERTX.run();
    return VERTX.get();
  }

  /** Closes the Vert.x of a bridge that did not start, after the rehearsal that uses it, too. */
  static void end() throws InterruptedException {
    REHEARSAL.join();
    try {
      vertx().close().await(10, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // the process ends, whether it is closed or not
    }
  }

  private static void rehearse() {
    try {
      Bridge.rehearse(vertx());
    } catch (Exception e) {
      // only time is lost: whoever needs the Vert.x is told what is wrong with it
    }
  }
}
