package dev.mcpbridge.http;

import dev.mcpbridge.config.HttpConfig;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Bounds what a connection may cost: how many there are, how long one may take to send a request's
 * head and body, how long it may be idle, or not take what it was given. A call that runs is never
 * cut off by it, nor a client that takes its answer slowly, unless memory is short and it has had
 * as long as it would have had for a body of its own. Looks at all connections every second instead
 * of arming a timer for each request.
 */
final class ConnectionGuard {
  private static final long SWEEP_MILLIS = 1_000;

  private final int max;
  private final HttpConfig.Patience patience;
  private final MemoryBudget memory;
  private final Map<HttpConnection, Watched> open = new IdentityHashMap<>();

  private static final class Watched {
    final Outlet outlet;
    HttpServerRequest request;
    long sinceNanos = System.nanoTime();
    boolean idle = true;

    Watched(Outlet outlet) {
      this.outlet = outlet;
    }
  }

  ConnectionGuard(Vertx vertx, HttpConfig config, MemoryBudget memory) {
    this.max = config.maxConnections();
    this.patience = config.patience();
    this.memory = memory;
    vertx.setPeriodic(SWEEP_MILLIS, t -> sweep());
  }

  void opened(HttpConnection connection) {
    if (open.size() >= max) {
      connection.close();
      return;
    }
    FlushTogether.on(connection);
    open.put(connection, new Watched(Outlet.of(connection, memory)));
    connection.closeHandler(v -> open.remove(connection));
  }

  /** A head has come. */
  void began(HttpServerRequest request) {
    Watched watched = open.get(request.connection());
    if (watched != null) {
      watched.request = request;
      watched.sinceNanos = System.nanoTime();
      watched.idle = false;
    }
  }

  private void sweep() {
    long now = System.nanoTime();
    List.copyOf(open.entrySet()).forEach(entry -> check(entry.getKey(), entry.getValue(), now));
  }

  private void check(HttpConnection connection, Watched watched, long now) {
    long millis = millis(now - watched.sinceNanos);
    if (isInTheWay(watched.outlet, now)) {
      watched.outlet.cut();
    } else if (watched.outlet.behindNanos(now) > 0) {
      watched.sinceNanos = now;
    } else if (watched.request == null) {
      closeIf(connection, millis > patience.headMillis());
    } else if (!watched.request.isEnded()) {
      if (millis > patience.bodyMillis()) {
        timeOut(watched.request);
      }
    } else if (watched.request.response().ended() && !watched.idle) {
      watched.idle = true;
      watched.sinceNanos = now;
    } else if (watched.idle) {
      closeIf(connection, millis > patience.idleMillis());
    }
  }

  private boolean isInTheWay(Outlet outlet, long now) {
    outlet.look(now);
    return millis(outlet.stuckNanos(now)) > patience.idleMillis()
        || memory.isHigh() && millis(outlet.behindNanos(now)) > patience.bodyMillis();
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }

  /** RFC 9110 section 15.5.9. */
  private static void timeOut(HttpServerRequest request) {
    if (!request.response().headWritten()) {
      request.response().setStatusCode(408).putHeader("connection", "close").end();
    }
    request.connection().close();
  }

  private static void closeIf(HttpConnection connection, boolean late) {
    if (late) {
      connection.close();
    }
  }
}
