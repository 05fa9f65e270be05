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
 * Says where the event loop stands when it does not come round, once, and when it goes on. Asks it
 * for a sign now and then; what Vert.x has for this takes the time before each of its handlers, one
 * or two percent of the work of a busy bridge.
 */
final class EventLoopWatch implements AutoCloseable {
  private static final Logger LOG = System.getLogger(EventLoopWatch.class.getName());
  private static final long LOOK_MILLIS = 1000;

  /** Looks in vain; more than one, or a process that was frozen would be taken for a busy one. */
  private static final int PATIENCE = 2;

  private static final int FRAMES = 12;

  private final ScheduledExecutorService looks =
      Executors.newSingleThreadScheduledExecutor(EventLoopWatch::thread);
  private final Context loop;
  private final long lookMillis;
  private volatile Thread carrier;
  private volatile boolean hasTurned = true;
  private int missed;

  private EventLoopWatch(Context loop, long lookMillis) {
    this.loop = loop;
    this.lookMillis = lookMillis;
  }

  private static Thread thread(Runnable looks) {
    Thread thread = new Thread(looks, "mcp-loop-watch");
    thread.setDaemon(true);
    return thread;
  }

  /** Before the first Vert.x of a process: it need not take the times that nobody asks for. */
  static void replaceTimings() {
    System.getProperties().putIfAbsent("vertx.disableContextTimings", "true");
  }

  /** Watches the loop of a Vert.x that has one. */
  static EventLoopWatch of(Vertx vertx) {
    return of(vertx, LOOK_MILLIS);
  }

  static EventLoopWatch of(Vertx vertx, long lookMillis) {
    EventLoopWatch watch = new EventLoopWatch(vertx.getOrCreateContext(), lookMillis);
    watch.look();
    watch.looks.scheduleWithFixedDelay(watch::look, lookMillis, lookMillis, TimeUnit.MILLISECONDS);
    return watch;
  }

  private void look() {
    if (hasTurned) {
      if (missed >= PATIENCE) {
        LOG.log(Level.WARNING, "the event loop goes on after " + missed * lookMillis + " ms");
      }
      missed = 0;
      hasTurned = false;
      loop.runOnContext(v -> turned());
    } else if (++missed == PATIENCE) {
      LOG.log(
          Level.WARNING,
          "the event loop has not come round for " + missed * lookMillis + " ms: " + place());
    }
  }

  private void turned() {
    carrier = Thread.currentThread();
    hasTurned = true;
  }

  private String place() {
    return carrier == null
        ? "it has not begun"
        : Arrays.stream(carrier.getStackTrace())
            .limit(FRAMES)
            .map(StackTraceElement::toString)
            .collect(Collectors.joining(" < "));
  }

  @Override
  public void close() {
    looks.shutdownNow();
  }
}
