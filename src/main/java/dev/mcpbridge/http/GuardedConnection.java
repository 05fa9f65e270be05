package dev.mcpbridge.http;

import dev.mcpbridge.config.HttpConfig;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** One connection as {@link ConnectionGuard} watches it. Confined to the event loop. */
abstract sealed class GuardedConnection permits PipelinedConnection, MultiplexedConnection {
  private static final Duration GRACE = Duration.ofSeconds(1);

  private final HttpConnection connection;
  private final ResponseBackpressure responseBackpressure;
  private final MemoryBudget responseBudget;
  private long sinceNanos = System.nanoTime();
  private boolean closing;

  /**
   * @param responseBudget memory for responses that clients have not read
   */
  GuardedConnection(
      HttpConnection connection,
      ResponseBackpressure responseBackpressure,
      MemoryBudget responseBudget) {
    this.connection = connection;
    this.responseBackpressure = responseBackpressure;
    this.responseBudget = responseBudget;
  }

  /** The head of a request was received. */
  abstract void started(HttpServerRequest request);

  /**
   * A request was admitted.
   *
   * @param body the memory for its body; null if it is small
   */
  abstract void admitted(RoutingContext ctx, MemoryBudget.Share body);

  /** Whether no request is under way. */
  abstract boolean isIdle();

  /** Applies the timeouts; called about once a second. */
  abstract void check(long now, HttpConfig.RequestTimeouts timeouts);

  /** Releases what is held for the connection, which has ended. */
  abstract void release();

  final String address() {
    return connection.remoteAddress().hostAddress();
  }

  final HttpConnection connection() {
    return connection;
  }

  final ResponseBackpressure responseBackpressure() {
    return responseBackpressure;
  }

  final MemoryBudget responseBudget() {
    return responseBudget;
  }

  /** Milliseconds since the connection began what it does now, such as to be idle. */
  final long sinceMillis(long now) {
    return millis(now - sinceNanos);
  }

  final void beginAt(long now) {
    sinceNanos = now;
  }

  /** Whether the client reads nothing, or slowly while memory is short. */
  final boolean isTooSlow(long now, HttpConfig.RequestTimeouts timeouts) {
    responseBackpressure.sample(now);
    return isTooSlow(
        responseBackpressure.stalledNanos(now), responseBackpressure.backlogNanos(now), timeouts);
  }

  /**
   * @param stalledNanos time for which the client has read nothing of what waits for it
   * @param backlogNanos time for which something has waited for it
   */
  final boolean isTooSlow(
      long stalledNanos, long backlogNanos, HttpConfig.RequestTimeouts timeouts) {
    return millis(stalledNanos) > timeouts.idleMillis()
        || responseBudget.isHigh() && millis(backlogNanos) > timeouts.bodyMillis();
  }

  /** A client that does not complete the close in time is disconnected at once. */
  final void close() {
    if (closing) {
      responseBackpressure.closeNow();
    } else {
      closing = true;
      sinceNanos = System.nanoTime();
      connection.shutdown(GRACE);
    }
  }

  static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }
}
