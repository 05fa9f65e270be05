package dev.mcpbridge.server;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.session.Session;
import io.vertx.core.Vertx;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Pings an idle upstream (basic/utilities/ping). A server that is busy with a call may be too busy
 * to answer, and its calls have deadlines of their own; one that just spoke is alive. Any answer
 * counts, an error too.
 */
final class Heartbeat {

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
  private final Consumer<Pulse> listener;
  private long timer = -1;
  private boolean waiting;
  private int missed;

  /**
   * @param intervalMillis between two pings and before one is given up; 0 for no heartbeat
   */
  Heartbeat(Vertx vertx, long intervalMillis, Session session, Consumer<Pulse> listener) {
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

  private void beat() {
    long quiet = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - session.lastHeardNanos());
    if (waiting || missed == 0 && (session.pendingCount() > 0 || quiet < intervalMillis / 2)) {
      return;
    }
    waiting = true;
    session
        .request(
            session.isStateless() ? McpMethod.DISCOVER : McpMethod.PING,
            JsonSlice.EMPTY_OBJECT,
            Math.max(1, intervalMillis * 9 / 10))
        .onComplete(pong -> answered(), failure -> failed(failure));
  }

  private void answered() {
    waiting = false;
    if (missed > 0) {
      missed = 0;
      listener.accept(Pulse.BACK);
    }
  }

  private void failed(Throwable failure) {
    waiting = false;
    ErrorCode code = failure instanceof BridgeException e ? e.code() : ErrorCode.INTERNAL;
    if (SILENCE.contains(code)) {
      missed++;
      listener.accept(missed == 1 ? Pulse.MISSED : Pulse.DEAD);
    } else {
      answered();
    }
  }
}
