package dev.mcpbridge.http.rest;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Arguments;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;

/** Reads path, query and body, strictly. */
final class Paths {
  private Paths() {}

  /** A name that cannot be a server's is a server that is not there. */
  static ServerId server(RoutingContext ctx) {
    String name = ctx.pathParam("server");
    if (!ServerId.isValid(name)) {
      throw new BridgeException(
          ErrorCode.SERVER_NOT_FOUND, "Server '" + shown(name) + "' not found or not connected");
    }
    return new ServerId(name);
  }

  /** The body as one JSON object. No body is an empty one, as in the original. */
  static Arguments arguments(RoutingContext ctx, int maxDepth) {
    Buffer body = ctx.body().buffer();
    return body == null || body.length() == 0
        ? Arguments.NONE
        : Arguments.read(body.getBytes(), maxDepth);
  }

  private static String shown(String name) {
    return name == null || name.length() > 100 ? "…" : name.replaceAll("\\p{Cntrl}", "?");
  }
}
