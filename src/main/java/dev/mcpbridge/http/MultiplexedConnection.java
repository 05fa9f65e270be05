package dev.mcpbridge.http;

import dev.mcpbridge.config.HttpConfig;
import dev.mcpbridge.http.reply.ResponseBody;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A connection of HTTP/2, with many requests at a time (RFC 9113). A client that is too slow with
 * one of them loses only that one. The number of streams, the size of heads and the rate of control
 * frames are limited by the settings of the listener.
 */
final class MultiplexedConnection extends GuardedConnection {
  /** RFC 9113 section 7. */
  private static final long CANCEL = 8;

  private static final long NO_ERROR = 0;

  /** The requests under way, by their streams. */
  private final Map<Long, Exchange> exchanges = new HashMap<>();

  private boolean used;

  /** One request and its response. */
  private final class Exchange implements ResponseBody.Watcher {
    private final HttpServerRequest request;
    private final long stream;
    private final long sinceNanos = System.nanoTime();
    private MemoryBudget.Share body;
    private int unread;
    private long beganNanos;
    private long progressNanos;

    Exchange(HttpServerRequest request) {
      this.request = request;
      this.stream = request.response().streamId();
    }

    @Override
    public void began(int bytes) {
      unread = bytes;
      beganNanos = System.nanoTime();
      progressNanos = beganNanos;
      responseBudget().addUnread(bytes);
    }

    @Override
    public void progressed() {
      progressNanos = System.nanoTime();
    }

    @Override
    public void ended() {
      countRead();
      if (isOver()) {
        release();
        exchanges.remove(stream);
      }
    }

    private void countRead() {
      responseBudget().removeUnread(unread);
      unread = 0;
    }

    /** Whether the response is with the client, as far as the bridge knows. */
    boolean isAnswered() {
      return request.response().ended() && unread == 0;
    }

    boolean isOver() {
      return request.response().closed() || isAnswered() && request.isEnded();
    }

    void release() {
      countRead();
      if (body != null) {
        body.release();
        body = null;
      }
    }

    /** RFC 9110 section 15.5.9. If the rest arrives nevertheless, the request does not run. */
    void timeOut() {
      HttpServerResponse response = request.response();
      request.handler(chunk -> {}).endHandler(end -> {});
      if (response.headWritten()) {
        response.reset(CANCEL);
      } else {
        response.setStatusCode(408).end();
      }
    }
  }

  MultiplexedConnection(
      HttpConnection connection,
      ResponseBackpressure responseBackpressure,
      MemoryBudget responseBudget) {
    super(connection, responseBackpressure, responseBudget);
  }

  @Override
  void started(HttpServerRequest request) {
    used = true;
    beginAt(System.nanoTime());
    Exchange exchange = new Exchange(request);
    exchanges.put(exchange.stream, exchange);
  }

  @Override
  void admitted(RoutingContext ctx, MemoryBudget.Share reserved) {
    Exchange exchange = exchanges.get(ctx.response().streamId());
    if (exchange == null) {
      return;
    }
    exchange.body = reserved;
    ResponseBody.watch(ctx, exchange);
  }

  @Override
  boolean isIdle() {
    return exchanges.values().stream().allMatch(Exchange::isOver);
  }

  @Override
  void release() {
    exchanges.values().forEach(Exchange::release);
    exchanges.clear();
  }

  @Override
  void check(long now, HttpConfig.RequestTimeouts timeouts) {
    if (isTooSlow(now, timeouts)) {
      responseBackpressure().closeNow();
      return;
    }
    removeOver();
    if (exchanges.isEmpty()) {
      long limit = used ? timeouts.idleMillis() : timeouts.headMillis();
      if (sinceMillis(now) > limit) {
        close();
      }
    } else {
      beginAt(now);
      List.copyOf(exchanges.values()).forEach(each -> check(each, now, timeouts));
    }
  }

  private void removeOver() {
    exchanges
        .values()
        .removeIf(
            each -> {
              if (each.isOver()) {
                each.release();
              }
              return each.isOver();
            });
  }

  private void check(Exchange exchange, long now, HttpConfig.RequestTimeouts timeouts) {
    boolean hasWholeRequest = exchange.request.isEnded();
    if (!hasWholeRequest && exchange.isAnswered()) {
      exchange.request.response().reset(NO_ERROR);
    } else if (!hasWholeRequest && millis(now - exchange.sinceNanos) > timeouts.bodyMillis()) {
      exchange.timeOut();
    } else if (exchange.unread > 0
        && isTooSlow(now - exchange.progressNanos, now - exchange.beganNanos, timeouts)) {
      exchange.request.response().reset(CANCEL);
    }
  }
}
