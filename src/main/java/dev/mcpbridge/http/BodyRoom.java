package dev.mcpbridge.http;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;

/**
 * Lets a large body in where there is memory for it, until its request is answered. Of a body that
 * does not tell its length nothing is known here.
 */
final class BodyRoom implements Handler<RoutingContext> {
  private final MemoryBudget memory;

  BodyRoom(MemoryBudget memory) {
    this.memory = memory;
  }

  @Override
  public void handle(RoutingContext ctx) {
    long bytes = length(ctx.request().getHeader(HttpHeaders.CONTENT_LENGTH));
    if (bytes < MemoryBudget.LARGE) {
      ctx.next();
      return;
    }
    MemoryBudget.Share share = memory.share();
    if (share.takeIfRoom(bytes)) {
      ctx.addEndHandler(over -> share.release());
      ctx.next();
    } else {
      ctx.fail(
          new BridgeException(
                  ErrorCode.OVERLOADED, "No memory is left for a body of " + bytes + " bytes")
              .withRetryAfter(1_000));
    }
  }

  /** 0 for a length that is refused by others, or short. */
  private static long length(String header) {
    return header != null && header.length() > 4 && header.matches("\\d{5,10}")
        ? Long.parseLong(header)
        : 0;
  }
}
