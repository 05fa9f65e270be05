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
 * Bounds what a connection may cost: how many there are, how long one may take to send a request's
 * head and body, how long it may be idle, or not take what it was given. A call that runs is never
 * cut off by it, nor a client that takes its answer slowly, unless memory is short and it has had
 * as long as it would have had for a body of its own. Looks at all connections every second instead
 * of arming a timer for each request.
 */
final class ConnectionGuard {
  private static final long SWEEP_MILLIS = 1_000;

  private volatile HttpConfig config;
  private final Vertx vertx;
  private final int maxBody;
  private final MemoryBudget answers;
  private final MemoryBudget bodies;
  private final Map<HttpConnection, GuardedConnection> open = new IdentityHashMap<>();
  private final Map<String, Integer> byAddress = new HashMap<>();

  /** The address that has more than half of the connections; null where none has. */
  private String crowd;

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

    void letBodyGo() {
      if (body != null) {
        body.release();
        body = null;
      }
    }
  }

  /**
   * @param answers what is held on its way to clients; bodies have as much beside it
   */
  ConnectionGuard(Vertx vertx, HttpConfig config, LimitsConfig limits, MemoryBudget answers) {
    this.config = config;
    this.maxBody = limits.bodyBytes();
    this.answers = answers;
    this.bodies = new MemoryBudget(limits.heldBytes());
    this.vertx = vertx;
    vertx.setPeriodic(SWEEP_MILLIS, t -> sweep());
  }

  /** Other bounds from now on; may be called from any thread. */
  void reload(HttpConfig other) {
    config = other;
  }

  void opened(HttpConnection connection) {
    String address = connection.remoteAddress().hostAddress();
    if (open.size() >= config.maxConnections() && !makeRoom(address)) {
      connection.close();
      return;
    }
    open.put(
        connection, new GuardedConnection(address, ResponseBackpressure.of(connection, answers)));
    count(address);
    connection.closeHandler(v -> closed(connection));
  }

  /**
   * Of an address that has more than half of the connections an idle one gives way to another
   * address.
   */
  private boolean makeRoom(String newcomer) {
    return crowd != null && !crowd.equals(newcomer) && closeIdle(crowd);
  }

  private boolean closeIdle(String address) {
    for (Map.Entry<HttpConnection, GuardedConnection> each : open.entrySet()) {
      GuardedConnection guardedConnection = each.getValue();
      if (guardedConnection.address.equals(address)
          && (guardedConnection.idle || guardedConnection.isAnswered())) {
        HttpConnection idle = each.getKey();
        closed(idle);
        idle.close();
        return true;
      }
    }
    return false;
  }

  private void count(String address) {
    if (byAddress.merge(address, 1, Integer::sum) > config.maxConnections() / 2) {
      crowd = address;
    }
  }

  private void uncount(String address) {
    int left = byAddress.merge(address, -1, Integer::sum);
    if (left == 0) {
      byAddress.remove(address);
    }
    if (address.equals(crowd) && left <= config.maxConnections() / 2) {
      crowd = null;
    }
  }

  private void closed(HttpConnection connection) {
    GuardedConnection guardedConnection = open.remove(connection);
    if (guardedConnection != null) {
      guardedConnection.letBodyGo();
      uncount(guardedConnection.address);
    }
  }

  /**
   * Lets a large body in where there is memory for it, until its request is answered; a longer one
   * than allowed is refused elsewhere. Of a body that does not tell its length nothing is known.
   *
   * @throws BridgeException OVERLOADED
   */
  void admit(RoutingContext ctx) {
    long bytes = length(ctx.request().getHeader(HttpHeaders.CONTENT_LENGTH));
    GuardedConnection guardedConnection =
        bytes < MemoryBudget.LARGE ? null : open.get(ctx.request().connection());
    if (guardedConnection == null || bytes > maxBody) {
      return;
    }
    MemoryBudget.Share share = bodies.share();
    if (!share.takeIfRoom(bytes)) {
      throw new BridgeException(
              ErrorCode.OVERLOADED, "No memory is left for a body of " + bytes + " bytes")
          .withRetryAfter(1_000);
    }
    guardedConnection.body = share;
    ctx.addEndHandler(over -> share.release());
  }

  /** 0 for what is no length, or a short one. */
  private static long length(String header) {
    return header != null && header.length() > 4 && header.matches("\\d{5,10}")
        ? Long.parseLong(header)
        : 0;
  }

  /**
   * A head has come. Its request is answered when the client has taken what it was given before, so
   * that no answers pile up in front of one that asks and does not read.
   */
  void began(HttpServerRequest request, Runnable answer) {
    GuardedConnection guardedConnection = open.get(request.connection());
    if (guardedConnection != null) {
      guardedConnection.letBodyGo();
      guardedConnection.request = request;
      guardedConnection.sinceNanos = System.nanoTime();
      guardedConnection.idle = false;
    }
    if (guardedConnection == null || guardedConnection.responseBackpressure.isOpen()) {
      answer.run();
    } else {
      request.pause();
      Context context = vertx.getOrCreateContext();
      guardedConnection.responseBackpressure.onceOpen(
          () -> context.runOnContext(v -> goOn(request, answer)));
    }
  }

  /** What reads the body is there before the body goes on. */
  private static void goOn(HttpServerRequest request, Runnable answer) {
    answer.run();
    request.resume();
  }

  private void sweep() {
    long now = System.nanoTime();
    List.copyOf(open.entrySet()).forEach(entry -> check(entry.getKey(), entry.getValue(), now));
  }

  private void check(HttpConnection connection, GuardedConnection guardedConnection, long now) {
    HttpConfig.Patience patience = config.patience();
    long millis = millis(now - guardedConnection.sinceNanos);
    if (isInTheWay(guardedConnection.responseBackpressure, now)) {
      guardedConnection.responseBackpressure.cut();
    } else if (guardedConnection.responseBackpressure.behindNanos(now) > 0) {
      guardedConnection.sinceNanos = now;
    } else if (guardedConnection.request == null) {
      closeIf(connection, guardedConnection, millis > patience.headMillis());
    } else if (!guardedConnection.request.isEnded()) {
      if (millis > patience.bodyMillis()) {
        timeOut(guardedConnection.request);
      }
    } else if (guardedConnection.request.response().ended() && !guardedConnection.idle) {
      guardedConnection.idle = true;
      guardedConnection.letBodyGo();
      guardedConnection.sinceNanos = now;
    } else if (guardedConnection.idle) {
      closeIf(connection, guardedConnection, millis > patience.idleMillis());
    }
  }

  private boolean isInTheWay(ResponseBackpressure responseBackpressure, long now) {
    HttpConfig.Patience patience = config.patience();
    responseBackpressure.look(now);
    return millis(responseBackpressure.stuckNanos(now)) > patience.idleMillis()
        || answers.isHigh()
            && millis(responseBackpressure.behindNanos(now)) > patience.bodyMillis();
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

  /** A client that does not even take the end of the connection is not waited for. */
  private static void closeIf(
      HttpConnection connection, GuardedConnection guardedConnection, boolean late) {
    if (late && guardedConnection.closing) {
      guardedConnection.responseBackpressure.cut();
    } else if (late) {
      guardedConnection.closing = true;
      guardedConnection.sinceNanos = System.nanoTime();
      connection.close();
    }
  }
}
