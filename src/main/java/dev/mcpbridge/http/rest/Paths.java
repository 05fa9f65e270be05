package dev.mcpbridge.http.rest;

import dev.mcpbridge.http.reply.Selections;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Arguments;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;

/** Validates and reads path parameters and bodies of requests. */
final class Paths {
  private Paths() {}

  /** The server in the path; an invalid name fails like that of an unknown server. */
  static ServerId server(RoutingContext ctx) {
    return Selections.server(ctx.pathParam("server"));
  }

  /** The body as a JSON object; an absent body is an empty object, as in the original. */
  static Arguments arguments(RoutingContext ctx, int maxDepth) {
    Buffer body = ctx.body().buffer();
    return body == null || body.length() == 0
        ? Arguments.NONE
        : Arguments.read(body.getBytes(), maxDepth);
  }
}
