package dev.mcpbridge.transport;

import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientResponse;
import java.util.concurrent.TimeUnit;

/**
 * Lets a response come in as there is memory for it: where there is none, its sender has to wait.
 * Confined to its context.
 */
final class BackpressuredBody {
  /** For what everything else of a server has to wait for. */
  static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** For what holds up nobody but its own call, which gives it up. */
  static final long AS_LONG_AS_ITS_CALL = Long.MAX_VALUE;

  private static final long LOOK_MILLIS = 20;

  private final Vertx vertx;
  private final HttpClientResponse response;
  private final MemoryBudget.Share share;
  private final long patienceNanos;
  private long waitingSince;
  private boolean hasWaited;
  private boolean over;

  /**
   * @param patienceNanos after which a message goes on to its end, room or not
   */
  BackpressuredBody(
      Vertx vertx, HttpClientResponse response, MemoryBudget memory, long patienceNanos) {
    this.vertx = vertx;
    this.response = response;
    this.share = memory.share();
    this.patienceNanos = patienceNanos;
  }

  /** So many bytes are kept of it now. */
  void holds(long bytes) {
    long large = bytes < MemoryBudget.LARGE ? 0 : bytes;
    if (over) {
      return;
    }
    if (hasWaited && large > 0) {
      share.take(large);
    } else if (share.takeIfRoom(large)) {
      hasWaited = false;
    } else {
      response.pause();
      waitingSince = System.nanoTime();
      lookLater(large);
    }
  }

  private void lookLater(long bytes) {
    vertx.setTimer(LOOK_MILLIS, t -> look(bytes));
  }

  private void look(long bytes) {
    if (over) {
      return;
    }
    hasWaited = System.nanoTime() - waitingSince >= patienceNanos;
    if (hasWaited) {
      share.take(bytes);
      response.resume();
    } else if (share.takeIfRoom(bytes)) {
      response.resume();
    } else {
      lookLater(bytes);
    }
  }

  /** Nothing is kept of it any more. */
  void end() {
    over = true;
    share.release();
  }
}
