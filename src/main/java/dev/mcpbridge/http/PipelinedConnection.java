package dev.mcpbridge.http;

import dev.mcpbridge.config.HttpConfig;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;

/** A connection of HTTP/1.1, with one request at a time. */
final class PipelinedConnection extends GuardedConnection {
  private HttpServerRequest request;
  private MemoryBudget.Share body;
  private boolean idle = true;

  PipelinedConnection(
      HttpConnection connection,
      ResponseBackpressure responseBackpressure,
      MemoryBudget responseBudget) {
    super(connection, responseBackpressure, responseBudget);
  }

  @Override
  void started(HttpServerRequest next) {
    release();
    request = next;
    beginAt(System.nanoTime());
    idle = false;
  }

  @Override
  void admitted(RoutingContext ctx, MemoryBudget.Share reserved) {
    body = reserved;
  }

  @Override
  boolean isIdle() {
    return idle || request != null && request.response().ended();
  }

  @Override
  void release() {
    if (body != null) {
      body.release();
      body = null;
    }
  }

  @Override
  void check(long now, HttpConfig.RequestTimeouts timeouts) {
    long millis = sinceMillis(now);
    if (isTooSlow(now, timeouts)) {
      responseBackpressure().closeNow();
    } else if (responseBackpressure().backlogNanos(now) > 0) {
      beginAt(now);
    } else if (request == null) {
      closeIf(millis > timeouts.headMillis());
    } else if (!request.isEnded()) {
      if (millis > timeouts.bodyMillis()) {
        timeOut();
      }
    } else if (request.response().ended() && !idle) {
      idle = true;
      release();
      beginAt(now);
    } else if (idle) {
      closeIf(millis > timeouts.idleMillis());
    }
  }

  private void closeIf(boolean isExpired) {
    if (isExpired) {
      close();
    }
  }

  /** RFC 9110 section 15.5.9. */
  private void timeOut() {
    if (!request.response().headWritten()) {
      request.response().setStatusCode(408).putHeader("connection", "close").end();
    }
    connection().close();
  }
}
