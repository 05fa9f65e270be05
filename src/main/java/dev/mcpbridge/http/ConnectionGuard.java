package dev.mcpbridge.http;

import dev.mcpbridge.config.HttpConfig;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Bounds what a connection may cost: how many there are, how long one may take to send a request's
 * head and body, how long it may be idle. A call that runs is never cut off by it. Looks at all
 * connections every second instead of arming a timer for each request.
 */
final class ConnectionGuard {
  private static final long SWEEP_MILLIS = 1_000;

  private final int max;
  private final HttpConfig.Patience patience;
  private final Map<HttpConnection, Watched> open = new IdentityHashMap<>();

  private static final class Watched {
    HttpServerRequest request;
    long sinceNanos = System.nanoTime();
    boolean idle = true;
  }

  ConnectionGuard(Vertx vertx, HttpConfig config) {
    this.max = config.maxConnections();
    this.patience = config.patience();
    vertx.setPeriodic(SWEEP_MILLIS, t -> sweep());
  }

  void opened(HttpConnection connection) {
    if (open.size() >= max) {
      connection.close();
      return;
    }
    FlushTogether.on(connection);
    open.put(connection, new Watched());
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
    long millis = TimeUnit.NANOSECONDS.toMillis(now - watched.sinceNanos);
    if (watched.request == null) {
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
