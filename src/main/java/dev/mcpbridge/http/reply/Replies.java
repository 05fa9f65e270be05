package dev.mcpbridge.http.reply;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.ext.web.RoutingContext;

/** Sends JSON responses; does nothing if the response has ended or the client is disconnected. */
public final class Replies {
  private static final CharSequence JSON = HttpHeaders.createOptimized("application/json");

  private Replies() {}

  public static void json(RoutingContext ctx, int status, JsonWriter body) {
    json(ctx, status, body.toSlice());
  }

  public static void json(RoutingContext ctx, int status, JsonSlice body) {
    send(ctx, status, JSON, body);
  }

  /**
   * Sends a catalogue, or 304 if the client already has it (RFC 9110 section 13.1.2). It depends on
   * who asks.
   */
  public static void tagged(RoutingContext ctx, String digest, JsonWriter body) {
    tagged(ctx, digest, body.toSlice());
  }

  public static void tagged(RoutingContext ctx, String digest, JsonSlice body) {
    String tag = '"' + digest + '"';
    ctx.response()
        .putHeader(HttpHeaders.ETAG, tag)
        .putHeader(HttpHeaders.CACHE_CONTROL, "private")
        .headers()
        .add(HttpHeaders.VARY, "Authorization, X-API-Key");
    String etags = ctx.request().getHeader(HttpHeaders.IF_NONE_MATCH);
    if (etags != null && (etags.contains(tag) || etags.strip().equals("*"))) {
      ctx.response().setStatusCode(304).end();
    } else {
      json(ctx, 200, body);
    }
  }

  static void send(RoutingContext ctx, int status, CharSequence type, JsonSlice body) {
    HttpServerResponse response = ctx.response();
    if (response.ended() || response.closed()) {
      return;
    }
    if (status != 200) {
      response.setStatusCode(status);
    }
    response.headers().set(HttpHeaders.CONTENT_TYPE, type);
    ResponseBody.send(ctx, buffer(body));
  }

  /** Ends a request that cannot be answered. Over HTTP/2 others of its connection go on. */
  static void disconnect(RoutingContext ctx) {
    if (ctx.request().version() != HttpVersion.HTTP_2) {
      ctx.request().connection().close();
    } else if (!ctx.response().closed()) {
      ctx.response().reset();
    }
  }

  static Buffer buffer(JsonSlice slice) {
    return Buffer.buffer(slice.length()).appendBytes(slice.bytes(), slice.from(), slice.length());
  }
}
