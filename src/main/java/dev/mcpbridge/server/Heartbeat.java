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
 * Pings an upstream that has been quiet (basic/utilities/ping). While calls are pending it may be
 * too busy to answer, so it is left alone at first. Nothing heard for two intervals, or several
 * calls in a row that passed their deadline without a word, is suspicious whatever is pending. Any
 * answer counts, an error too.
 */
final class Heartbeat {
  private static final int DEADLINES = 3;

  /** What a ping said about the upstream. */
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
  private long heardNanos;

  /**
   * @param intervalMillis between two pings; 0 for no heartbeat
   * @param listener hears each pulse, with what went wrong; null where nothing did
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

  /** A call was not answered before its deadline. */
  void deadlinePassed() {
    if (session.lastHeardNanos() != heardNanos) {
      heardNanos = session.lastHeardNanos();
      deadlines = 0;
    }
    deadlines++;
    if (timer >= 0 && deadlines == DEADLINES && !waiting && missed == 0) {
      pingTheSuspicious();
    }
  }

  private void beat() {
    if (waiting) {
      return;
    }
    if (missed == 0 && isSuspicious()) {
      pingTheSuspicious();
    } else if (missed > 0 || isIdle()) {
      ping(intervalMillis * 9 / 10);
    }
  }

  private boolean isIdle() {
    return session.pendingCount() == 0 && quietMillis() >= intervalMillis / 2;
  }

  /** A timer may come a little early. */
  private boolean isSuspicious() {
    return session.pendingCount() > 0 && quietMillis() >= intervalMillis * 7 / 4;
  }

  private long quietMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - session.lastHeardNanos());
  }

  /** A short wait for the first ping, so that the second one is not late either. */
  private void pingTheSuspicious() {
    ping(intervalMillis / 3).onFailure(silent -> ping(intervalMillis * 9 / 10));
  }

  /** Fails where nothing was heard for the first time. */
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
