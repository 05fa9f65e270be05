package dev.mcpbridge.http;

import dev.mcpbridge.config.HttpConfig;
import dev.mcpbridge.config.LimitsConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.ext.web.RoutingContext;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

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
    connections.put(connection, guarded(connection));
    count(address);
    connection.closeHandler(v -> closed(connection));
  }

  private GuardedConnection guarded(HttpConnection connection) {
    ResponseBackpressure responseBackpressure = ResponseBackpressure.of(connection, responseBudget);
    return connection.protocolVersion() == HttpVersion.HTTP_2
        ? new MultiplexedConnection(connection, responseBackpressure, responseBudget)
        : new PipelinedConnection(connection, responseBackpressure, responseBudget);
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
      if (guarded.address().equals(crowdedAddress) && guarded.isIdle()) {
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
      guarded.release();
      uncount(guarded.address());
    }
  }

  /**
   * Reserves memory for a large request body until its request is answered. A body over the size
   * limit is refused elsewhere. A body without Content-Length is counted only over HTTP/2, where a
   * connection can have many of them.
   *
   * @throws BridgeException OVERLOADED if the memory is not available
   */
  void admit(RoutingContext ctx) {
    HttpServerRequest request = ctx.request();
    boolean isMultiplexed = request.version() == HttpVersion.HTTP_2;
    String declared = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    long bytes = length(declared);
    boolean isSmall = bytes < MemoryBudget.LARGE || bytes > maxBody;
    GuardedConnection guarded =
        isSmall && !isMultiplexed ? null : connections.get(request.connection());
    if (guarded == null) {
      return;
    }
    MemoryBudget.Share body = isSmall && declared != null ? null : bodyBudget.share();
    guarded.admitted(ctx, body);
    if (declared == null) {
      reserveUnlessEnded(ctx, body);
    } else if (body != null) {
      reserve(body, bytes);
      ctx.addEndHandler(ended -> body.release());
    }
  }

  /** A request without a body ends in the turn of the event loop in which its head arrives. */
  private void reserveUnlessEnded(RoutingContext ctx, MemoryBudget.Share body) {
    HttpServerRequest request = ctx.request();
    Future<Void> whole = request.end().onSuccess(end -> body.take(request.bytesRead()));
    ctx.addEndHandler(ended -> body.release());
    vertx
        .getOrCreateContext()
        .runOnContext(
            v -> {
              if (!whole.isComplete() && !ctx.response().ended()) {
                try {
                  reserve(body, maxBody);
                } catch (BridgeException refusal) {
                  ctx.fail(refusal);
                }
              }
            });
  }

  private static void reserve(MemoryBudget.Share body, long bytes) {
    if (!body.takeIfRoom(bytes)) {
      throw new BridgeException(
              ErrorCode.OVERLOADED,
              "Not enough memory for a body of " + bytes + " bytes; retry later")
          .withRetryAfter(1_000);
    }
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
      guarded.started(request);
    }
    if (guarded == null || guarded.responseBackpressure().isWritable()) {
      handler.run();
    } else {
      request.pause();
      Context context = vertx.getOrCreateContext();
      guarded
          .responseBackpressure()
          .onceWritable(() -> context.runOnContext(v -> resume(request, handler)));
    }
  }

  /** Installs the body handler before the body is resumed. */
  private static void resume(HttpServerRequest request, Runnable handler) {
    handler.run();
    request.resume();
  }

  private void sweep() {
    long now = System.nanoTime();
    HttpConfig.RequestTimeouts timeouts = config.requestTimeouts();
    List.copyOf(connections.values()).forEach(guarded -> guarded.check(now, timeouts));
  }
}
