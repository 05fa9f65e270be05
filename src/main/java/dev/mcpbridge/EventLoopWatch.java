package dev.mcpbridge;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Logs a stack trace once when the event loop is blocked, and when it runs again. It schedules a
 * task on the loop at intervals. The blocked thread checker of Vert.x takes the time before each
 * handler instead, which costs a busy bridge one or two percent of its work.
 */
final class EventLoopWatch implements AutoCloseable {
  private static final Logger LOG = System.getLogger(EventLoopWatch.class.getName());
  private static final long INTERVAL_MILLIS = 1000;

  /** Missed checks before a warning; with 1, a suspended process would seem to be blocked. */
  private static final int MAX_MISSED = 2;

  private static final int FRAMES = 12;

  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(EventLoopWatch::thread);
  private final Context loop;
  private final long intervalMillis;
  private volatile Thread loopThread;
  private volatile boolean hasResponded = true;
  private int missed;

  private EventLoopWatch(Context loop, long intervalMillis) {
    this.loop = loop;
    this.intervalMillis = intervalMillis;
  }

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "mcp-loop-watch");
    thread.setDaemon(true);
    return thread;
  }

  /** Disables the unused timings of Vert.x. Call it before the first Vert.x of a process. */
  static void disableVertxTimings() {
    System.getProperties().putIfAbsent("vertx.disableContextTimings", "true");
  }

  /** Watches the event loop of a Vert.x with a single loop. */
  static EventLoopWatch of(Vertx vertx) {
    return of(vertx, INTERVAL_MILLIS);
  }

  static EventLoopWatch of(Vertx vertx, long intervalMillis) {
    EventLoopWatch watch = new EventLoopWatch(vertx.getOrCreateContext(), intervalMillis);
    watch.check();
    watch.executor.scheduleWithFixedDelay(
        watch::check, intervalMillis, intervalMillis, TimeUnit.MILLISECONDS);
    return watch;
  }

  private void check() {
    if (hasResponded) {
      if (missed >= MAX_MISSED) {
        LOG.log(
            Level.WARNING, "the event loop runs again after " + missed * intervalMillis + " ms");
      }
      missed = 0;
      hasResponded = false;
      loop.runOnContext(v -> respond());
    } else if (++missed == MAX_MISSED) {
      LOG.log(
          Level.WARNING,
          "the event loop has been blocked for "
              + missed * intervalMillis
              + " ms: "
              + stackTrace());
    }
  }

  private void respond() {
    loopThread = Thread.currentThread();
    hasResponded = true;
  }

  private String stackTrace() {
    return loopThread == null
        ? "it has not started"
        : Arrays.stream(loopThread.getStackTrace())
            .limit(FRAMES)
            .map(StackTraceElement::toString)
            .collect(Collectors.joining(" < "));
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
