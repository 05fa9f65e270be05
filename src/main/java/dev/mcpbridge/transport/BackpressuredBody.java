package dev.mcpbridge.transport;

import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientResponse;
import java.util.concurrent.TimeUnit;

/**
 * Applies back-pressure to a response body: while the memory budget has no room for the buffered
 * bytes, the response is paused and its sender has to wait. Confined to its context.
 */
final class BackpressuredBody {
  /** Patience for streams that block everything else from the same server. */
  static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Patience for a body that blocks only its own call; the call cancels it. */
  static final long UNLIMITED_NANOS = Long.MAX_VALUE;

  private static final long POLL_MILLIS = 20;

  private final Vertx vertx;
  private final HttpClientResponse response;
  private final MemoryBudget.Share share;
  private final long patienceNanos;
  private long waitingSince;
  private boolean hasWaited;
  private boolean ended;

  /**
   * @param patienceNanos time after which a message is read to its end even without room
   */
  BackpressuredBody(
      Vertx vertx, HttpClientResponse response, MemoryBudget memory, long patienceNanos) {
    this.vertx = vertx;
    this.response = response;
    this.share = memory.share();
    this.patienceNanos = patienceNanos;
  }

  /** Reports how many bytes of the body are buffered now. */
  void onBuffered(long bytes) {
    long counted = bytes < MemoryBudget.LARGE ? 0 : bytes;
    if (ended) {
      return;
    }
    if (hasWaited && counted > 0) {
      share.take(counted);
    } else if (share.takeIfRoom(counted)) {
      hasWaited = false;
    } else {
      response.pause();
      waitingSince = System.nanoTime();
      schedulePoll(counted);
    }
  }

  private void schedulePoll(long bytes) {
    vertx.setTimer(POLL_MILLIS, t -> poll(bytes));
  }

  private void poll(long bytes) {
    if (ended) {
      return;
    }
    hasWaited = System.nanoTime() - waitingSince >= patienceNanos;
    if (hasWaited) {
      share.take(bytes);
      response.resume();
    } else if (share.takeIfRoom(bytes)) {
      response.resume();
    } else {
      schedulePoll(bytes);
    }
  }

  /** Releases the memory of the body; nothing is buffered any longer. */
  void end() {
    ended = true;
    share.release();
  }
}
