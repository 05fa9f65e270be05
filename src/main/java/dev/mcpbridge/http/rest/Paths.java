package dev.mcpbridge.http.rest;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Arguments;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;

/** Validates and reads path parameters and bodies of requests. */
final class Paths {
  private Paths() {}

  /** The server in the path; an invalid name fails like that of an unknown server. */
  static ServerId server(RoutingContext ctx) {
    return server(ctx.pathParam("server"));
  }

  static ServerId server(String name) {
    if (!ServerId.isValid(name)) {
      throw new BridgeException(
          ErrorCode.SERVER_NOT_FOUND,
          "Server '" + Problems.printable(name) + "' not found or not connected");
    }
    return new ServerId(name);
  }

  /** The body as a JSON object; an absent body is an empty object, as in the original. */
  static Arguments arguments(RoutingContext ctx, int maxDepth) {
    Buffer body = ctx.body().buffer();
    return body == null || body.length() == 0
        ? Arguments.NONE
        : Arguments.read(body.getBytes(), maxDepth);
  }
}
