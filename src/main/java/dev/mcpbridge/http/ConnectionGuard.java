package dev.mcpbridge.http;

import dev.mcpbridge.config.HttpConfig;
import dev.mcpbridge.config.LimitsConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Limits connections: their number, the time for a request's head and body, the idle time, and the
 * time in which a client may read nothing. Never cuts off a running call. A client that reads
 * slowly is cut off only if memory is short and it has had as long as the timeout for a request
 * body. Checks all connections once a second instead of with a timer for each request.
 */
final class ConnectionGuard {
  private static final long SWEEP_MILLIS = 1_000;

  private volatile HttpConfig config;
  private final Vertx vertx;
  private final int maxBody;
  private final MemoryBudget responseBudget;
  private final MemoryBudget bodyBudget;
  private final Map<HttpConnection, GuardedConnection> connections = new IdentityHashMap<>();
  private final Map<String, Integer> connectionsByAddress = new HashMap<>();

  /** The address that has more than half of the allowed connections; null if no address has. */
  private String crowdedAddress;

  private static final class GuardedConnection {
    final String address;
    final ResponseBackpressure responseBackpressure;
    HttpServerRequest request;
    MemoryBudget.Share body;
    long sinceNanos = System.nanoTime();
    boolean idle = true;
    boolean closing;

    GuardedConnection(String address, ResponseBackpressure responseBackpressure) {
      this.address = address;
      this.responseBackpressure = responseBackpressure;
    }

    boolean isAnswered() {
      return request != null && request.response().ended();
    }

    void releaseBody() {
      if (body != null) {
        body.release();
        body = null;
      }
    }
  }

  /**
   * @param responseBudget memory for responses that clients have not read; request bodies have a
   *     separate budget of {@code limits.heldBytes()}
   */
  ConnectionGuard(
      Vertx vertx, HttpConfig config, LimitsConfig limits, MemoryBudget responseBudget) {
    this.config = config;
    this.maxBody = limits.bodyBytes();
    this.responseBudget = responseBudget;
    this.bodyBudget = new MemoryBudget(limits.heldBytes());
    this.vertx = vertx;
    vertx.setPeriodic(SWEEP_MILLIS, t -> sweep());
  }

  /** Replaces the limits. May be called from any thread. */
  void reload(HttpConfig next) {
    config = next;
  }

  void opened(HttpConnection connection) {
    String address = connection.remoteAddress().hostAddress();
    if (connections.size() >= config.maxConnections() && !closeIdleFor(address)) {
      connection.close();
      return;
    }
    connections.put(
        connection,
        new GuardedConnection(address, ResponseBackpressure.of(connection, responseBudget)));
    count(address);
    connection.closeHandler(v -> closed(connection));
  }

  /**
   * Closes an idle connection of an address that has more than half of them, in favor of another
   * address.
   */
  private boolean closeIdleFor(String address) {
    if (crowdedAddress == null || crowdedAddress.equals(address)) {
      return false;
    }
    for (Map.Entry<HttpConnection, GuardedConnection> entry : connections.entrySet()) {
      GuardedConnection guarded = entry.getValue();
      if (guarded.address.equals(crowdedAddress) && (guarded.idle || guarded.isAnswered())) {
        closed(entry.getKey());
        entry.getKey().close();
        return true;
      }
    }
    return false;
  }

  private void count(String address) {
    if (connectionsByAddress.merge(address, 1, Integer::sum) > config.maxConnections() / 2) {
      crowdedAddress = address;
    }
  }

  private void uncount(String address) {
    int remaining = connectionsByAddress.merge(address, -1, Integer::sum);
    if (remaining == 0) {
      connectionsByAddress.remove(address);
    }
    if (address.equals(crowdedAddress) && remaining <= config.maxConnections() / 2) {
      crowdedAddress = null;
    }
  }

  private void closed(HttpConnection connection) {
    GuardedConnection guarded = connections.remove(connection);
    if (guarded != null) {
      guarded.releaseBody();
      uncount(guarded.address);
    }
  }

  /**
   * Reserves memory for a large request body until its request is answered. A body over the size
   * limit is refused elsewhere. A body without Content-Length is not counted here.
   *
   * @throws BridgeException OVERLOADED if the memory is not available
   */
  void admit(RoutingContext ctx) {
    long bytes = length(ctx.request().getHeader(HttpHeaders.CONTENT_LENGTH));
    GuardedConnection guarded =
        bytes < MemoryBudget.LARGE ? null : connections.get(ctx.request().connection());
    if (guarded == null || bytes > maxBody) {
      return;
    }
    MemoryBudget.Share reservation = bodyBudget.share();
    if (!reservation.takeIfRoom(bytes)) {
      throw new BridgeException(
              ErrorCode.OVERLOADED,
              "Not enough memory for a body of " + bytes + " bytes; retry later")
          .withRetryAfter(1_000);
    }
    guarded.body = reservation;
    ctx.addEndHandler(ended -> reservation.release());
  }

  /** 0 for an invalid or a short length. */
  private static long length(String header) {
    return header != null && header.length() > 4 && header.matches("\\d{5,10}")
        ? Long.parseLong(header)
        : 0;
  }

  /**
   * Called with the head of a request, which is handled once the client has read its previous
   * responses: responses do not pile up for a client that sends requests without reading.
   */
  void requestStarted(HttpServerRequest request, Runnable handler) {
    GuardedConnection guarded = connections.get(request.connection());
    if (guarded != null) {
      guarded.releaseBody();
      guarded.request = request;
      guarded.sinceNanos = System.nanoTime();
      guarded.idle = false;
    }
    if (guarded == null || guarded.responseBackpressure.isWritable()) {
      handler.run();
    } else {
      request.pause();
      Context context = vertx.getOrCreateContext();
      guarded.responseBackpressure.onceWritable(
          () -> context.runOnContext(v -> resume(request, handler)));
    }
  }

  /** Installs the body handler before the body is resumed. */
  private static void resume(HttpServerRequest request, Runnable handler) {
    handler.run();
    request.resume();
  }

  private void sweep() {
    long now = System.nanoTime();
    List.copyOf(connections.entrySet())
        .forEach(entry -> check(entry.getKey(), entry.getValue(), now));
  }

  private void check(HttpConnection connection, GuardedConnection guarded, long now) {
    HttpConfig.RequestTimeouts timeouts = config.requestTimeouts();
    long millis = millis(now - guarded.sinceNanos);
    if (isTooSlow(guarded.responseBackpressure, now)) {
      guarded.responseBackpressure.closeNow();
    } else if (guarded.responseBackpressure.backlogNanos(now) > 0) {
      guarded.sinceNanos = now;
    } else if (guarded.request == null) {
      closeIf(connection, guarded, millis > timeouts.headMillis());
    } else if (!guarded.request.isEnded()) {
      if (millis > timeouts.bodyMillis()) {
        timeOut(guarded.request);
      }
    } else if (guarded.request.response().ended() && !guarded.idle) {
      guarded.idle = true;
      guarded.releaseBody();
      guarded.sinceNanos = now;
    } else if (guarded.idle) {
      closeIf(connection, guarded, millis > timeouts.idleMillis());
    }
  }

  private boolean isTooSlow(ResponseBackpressure responseBackpressure, long now) {
    HttpConfig.RequestTimeouts timeouts = config.requestTimeouts();
    responseBackpressure.sample(now);
    return millis(responseBackpressure.stalledNanos(now)) > timeouts.idleMillis()
        || responseBudget.isHigh()
            && millis(responseBackpressure.backlogNanos(now)) > timeouts.bodyMillis();
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

  /** A client that does not complete the close in time is disconnected at once. */
  private static void closeIf(
      HttpConnection connection, GuardedConnection guarded, boolean isExpired) {
    if (isExpired && guarded.closing) {
      guarded.responseBackpressure.closeNow();
    } else if (isExpired) {
      guarded.closing = true;
      guarded.sinceNanos = System.nanoTime();
      connection.close();
    }
  }
}
