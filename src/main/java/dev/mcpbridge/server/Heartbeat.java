package dev.mcpbridge.server;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.session.Session;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * Pings an upstream that has been quiet (MCP basic/utilities/ping). While calls are pending it may
 * be too busy to answer, so it is not pinged at first. Two intervals without any message, or
 * several calls in a row that passed their deadline without one, make it suspect even then. Any
 * answer counts, including an error.
 */
final class Heartbeat {
  private static final int DEADLINES = 3;

  /** The result of a ping. BACK: answered after a missed one; DEAD: two missed in a row. */
  enum Pulse {
    BACK,
    MISSED,
    DEAD
  }

  private static final Set<ErrorCode> SILENCE =
      EnumSet.of(
          ErrorCode.DEADLINE_EXCEEDED,
          ErrorCode.QUEUE_FULL,
          ErrorCode.UPSTREAM_CRASHED,
          ErrorCode.SERVER_UNAVAILABLE);

  private final Vertx vertx;
  private final long intervalMillis;
  private final Session session;
  private final BiConsumer<Pulse, String> listener;
  private long timer = -1;
  private boolean waiting;
  private int missed;
  private int deadlines;
  private long lastMessageNanos;

  /**
   * @param intervalMillis between two pings; 0 disables the heartbeat
   * @param listener called with each pulse and the reason of a failure; the reason is null for BACK
   */
  Heartbeat(Vertx vertx, long intervalMillis, Session session, BiConsumer<Pulse, String> listener) {
    this.vertx = vertx;
    this.intervalMillis = intervalMillis;
    this.session = session;
    this.listener = listener;
  }

  void start() {
    if (intervalMillis > 0) {
      timer = vertx.setPeriodic(intervalMillis, t -> beat());
    }
  }

  void stop() {
    vertx.cancelTimer(timer);
  }

  /** Reports a call that was not answered before its deadline. */
  void deadlinePassed() {
    if (session.lastMessageNanos() != lastMessageNanos) {
      lastMessageNanos = session.lastMessageNanos();
      deadlines = 0;
    }
    deadlines++;
    if (timer >= 0 && deadlines == DEADLINES && !waiting && missed == 0) {
      pingSuspect();
    }
  }

  private void beat() {
    if (waiting) {
      return;
    }
    if (missed == 0 && isSuspect()) {
      pingSuspect();
    } else if (missed > 0 || isIdle()) {
      ping(intervalMillis * 9 / 10);
    }
  }

  private boolean isIdle() {
    return session.pendingCount() == 0 && quietMillis() >= intervalMillis / 2;
  }

  /** Slightly less than two intervals, because a timer may fire early. */
  private boolean isSuspect() {
    return session.pendingCount() > 0 && quietMillis() >= intervalMillis * 7 / 4;
  }

  private long quietMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - session.lastMessageNanos());
  }

  /** The first ping has a short timeout, so that the second one is not late. */
  private void pingSuspect() {
    ping(intervalMillis / 3).onFailure(silent -> ping(intervalMillis * 9 / 10));
  }

  /** Fails if this is the first ping without an answer. */
  private Future<Void> ping(long timeoutMillis) {
    waiting = true;
    return session
        .request(
            session.isStateless() ? McpMethod.DISCOVER : McpMethod.PING,
            JsonSlice.EMPTY_OBJECT,
            Math.max(1, timeoutMillis))
        .transform(
            pong -> {
              waiting = false;
              return pong.failed() && isSilence(pong.cause()) ? missed(pong.cause()) : answered();
            });
  }

  private static boolean isSilence(Throwable failure) {
    ErrorCode code = failure instanceof BridgeException e ? e.code() : ErrorCode.INTERNAL;
    return SILENCE.contains(code);
  }

  private Future<Void> answered() {
    if (missed > 0) {
      missed = 0;
      listener.accept(Pulse.BACK, null);
    }
    return Future.succeededFuture();
  }

  private Future<Void> missed(Throwable silence) {
    missed++;
    listener.accept(missed == 1 ? Pulse.MISSED : Pulse.DEAD, silence.getMessage());
    return missed == 1 ? Future.failedFuture("no answer to a ping") : Future.succeededFuture();
  }
}
