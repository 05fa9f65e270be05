package dev.mcpbridge.http.reply;

import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.ext.web.RoutingContext;

/** Sends JSON responses; does nothing if the response has ended or the client is disconnected. */
public final class Replies {
  private static final CharSequence JSON = HttpHeaders.createOptimized("application/json");

  private Replies() {}

  /** Whether the head of a request announces a body. */
  public static boolean hasBody(HttpServerRequest request) {
    MultiMap headers = request.headers();
    String length = headers.get(HttpHeaders.CONTENT_LENGTH);
    boolean hasLength = length != null && !length.equals("0");
    boolean isOfUnknownLength =
        request.version() == HttpVersion.HTTP_2
            ? length == null && headers.contains(HttpHeaders.CONTENT_TYPE)
            : headers.contains(HttpHeaders.TRANSFER_ENCODING);
    return hasLength || isOfUnknownLength;
  }

  public static void json(RoutingContext ctx, int status, JsonWriter body) {
    json(ctx, status, body.toSlice());
  }

  public static void json(RoutingContext ctx, int status, JsonSlice body) {
    send(ctx, status, JSON, body);
  }

  /**
   * Sends JSON, compressed if the client accepts that.
   *
   * @param content what it is; null if it may have a secret
   */
  public static void json(RoutingContext ctx, int status, JsonSlice body, Compressed content) {
    if (begin(ctx, status, JSON)) {
      ResponseBody.send(ctx, buffer(body), content);
    }
  }

  /**
   * Sends a catalogue, or 304 if the client already has it (RFC 9110 section 13.1.2). It depends on
   * who asks. The tag is a weak one, the same for the compressed form.
   */
  public static void tagged(RoutingContext ctx, String digest, JsonWriter body) {
    tagged(ctx, digest, body.toSlice());
  }

  public static void tagged(RoutingContext ctx, String digest, JsonSlice body) {
    ctx.response()
        .putHeader(HttpHeaders.CACHE_CONTROL, "private")
        .headers()
        .add(HttpHeaders.VARY, "Authorization, X-API-Key");
    if (isKnown(ctx, digest)) {
      ctx.response().setStatusCode(304).end();
    } else {
      json(ctx, 200, body, Compressed.LISTS);
    }
  }

  /** Tags a response, and tells whether the client already has what it stands for. */
  static boolean isKnown(RoutingContext ctx, String digest) {
    String tag = '"' + digest + '"';
    ctx.response().putHeader(HttpHeaders.ETAG, "W/" + tag);
    String etags = ctx.request().getHeader(HttpHeaders.IF_NONE_MATCH);
    boolean isKnown = etags != null && (etags.contains(tag) || etags.strip().equals("*"));
    if (isKnown) {
      ctx.response().headers().add(HttpHeaders.VARY, HttpHeaders.ACCEPT_ENCODING);
    }
    return isKnown;
  }

  static void send(RoutingContext ctx, int status, CharSequence type, JsonSlice body) {
    if (begin(ctx, status, type)) {
      ResponseBody.send(ctx, buffer(body));
    }
  }

  /** False if the response has ended or the client is disconnected. */
  private static boolean begin(RoutingContext ctx, int status, CharSequence type) {
    HttpServerResponse response = ctx.response();
    if (response.ended() || response.closed()) {
      return false;
    }
    if (status != 200) {
      response.setStatusCode(status);
    }
    response.headers().set(HttpHeaders.CONTENT_TYPE, type);
    return true;
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
