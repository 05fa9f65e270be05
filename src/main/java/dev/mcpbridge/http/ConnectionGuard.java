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
  private final Map<HttpConnection, Watched> open = new IdentityHashMap<>();
  private final Map<String, Integer> byAddress = new HashMap<>();

  /** The address that has more than half of the connections; null where none has. */
  private String crowd;

  private static final class Watched {
    final String address;
    final Outlet outlet;
    HttpServerRequest request;
    MemoryBudget.Share body;
    long sinceNanos = System.nanoTime();
    boolean idle = true;
    boolean closing;

    Watched(String address, Outlet outlet) {
      this.address = address;
      this.outlet = outlet;
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
    open.put(connection, new Watched(address, Outlet.of(connection, answers)));
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
    for (Map.Entry<HttpConnection, Watched> each : open.entrySet()) {
      Watched watched = each.getValue();
      if (watched.address.equals(address) && (watched.idle || watched.isAnswered())) {
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
    Watched watched = open.remove(connection);
    if (watched != null) {
      watched.letBodyGo();
      uncount(watched.address);
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
    Watched watched = bytes < MemoryBudget.LARGE ? null : open.get(ctx.request().connection());
    if (watched == null || bytes > maxBody) {
      return;
    }
    MemoryBudget.Share share = bodies.share();
    if (!share.takeIfRoom(bytes)) {
      throw new BridgeException(
              ErrorCode.OVERLOADED, "No memory is left for a body of " + bytes + " bytes")
          .withRetryAfter(1_000);
    }
    watched.body = share;
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
    Watched watched = open.get(request.connection());
    if (watched != null) {
      watched.letBodyGo();
      watched.request = request;
      watched.sinceNanos = System.nanoTime();
      watched.idle = false;
    }
    if (watched == null || watched.outlet.isOpen()) {
      answer.run();
    } else {
      request.pause();
      Context context = vertx.getOrCreateContext();
      watched.outlet.onceOpen(() -> context.runOnContext(v -> goOn(request, answer)));
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

  private void check(HttpConnection connection, Watched watched, long now) {
    HttpConfig.Patience patience = config.patience();
    long millis = millis(now - watched.sinceNanos);
    if (isInTheWay(watched.outlet, now)) {
      watched.outlet.cut();
    } else if (watched.outlet.behindNanos(now) > 0) {
      watched.sinceNanos = now;
    } else if (watched.request == null) {
      closeIf(connection, watched, millis > patience.headMillis());
    } else if (!watched.request.isEnded()) {
      if (millis > patience.bodyMillis()) {
        timeOut(watched.request);
      }
    } else if (watched.request.response().ended() && !watched.idle) {
      watched.idle = true;
      watched.letBodyGo();
      watched.sinceNanos = now;
    } else if (watched.idle) {
      closeIf(connection, watched, millis > patience.idleMillis());
    }
  }

  private boolean isInTheWay(Outlet outlet, long now) {
    HttpConfig.Patience patience = config.patience();
    outlet.look(now);
    return millis(outlet.stuckNanos(now)) > patience.idleMillis()
        || answers.isHigh() && millis(outlet.behindNanos(now)) > patience.bodyMillis();
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
  private static void closeIf(HttpConnection connection, Watched watched, boolean late) {
    if (late && watched.closing) {
      watched.outlet.cut();
    } else if (late) {
      watched.closing = true;
      watched.sinceNanos = System.nanoTime();
      connection.close();
    }
  }
}
