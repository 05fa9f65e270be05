package dev.mcpbridge.http.reply;

import dev.mcpbridge.config.HttpConfig.Compressed;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;

/**
 * Sends the body of a response, and tells a watcher how it gets on. Over HTTP/2 the client decides
 * how much of each response is sent, so that a whole body could wait in the bridge unseen; it is
 * written in parts, as the client takes them. A response without a watcher is written at once.
 * Confined to the event loop.
 */
public final class ResponseBody {
  private static final String WATCHER = ResponseBody.class.getName();
  private static final int PART = 64 * 1024;

  private final HttpServerResponse response;
  private final Buffer body;
  private final Watcher watcher;
  private int written;
  private boolean writing;

  /** Is told of the progress of a response. */
  public interface Watcher {
    /** The body begins. */
    void began(int bytes);

    /** The client has taken a part of it. */
    void progressed();

    /** The body was taken as a whole. If the client leaves before, that is not told. */
    void ended();
  }

  private ResponseBody(HttpServerResponse response, Buffer body, Watcher watcher) {
    this.response = response;
    this.body = body;
    this.watcher = watcher;
  }

  /** Has the response of a request watched. */
  public static void watch(RoutingContext ctx, Watcher watcher) {
    ctx.put(WATCHER, watcher);
  }

  /**
   * Sends a body, compressed if the client accepts that.
   *
   * @param content what it is; null if it may have a secret
   */
  public static void send(RoutingContext ctx, Buffer body, Compressed content) {
    if (content != null && ctx.request().method() == HttpMethod.GET) {
      ctx.response().headers().add(HttpHeaders.VARY, HttpHeaders.ACCEPT_ENCODING);
    }
    Compression compression = Compression.of(ctx, content);
    Future<Buffer> encoded =
        compression != null && Compression.isWorthwhile(body) ? compression.whole(body) : null;
    if (encoded == null) {
      send(ctx, body);
    } else {
      encoded.onSuccess(gzip -> sendEncoded(ctx, gzip)).onFailure(ctx::fail);
    }
  }

  private static void sendEncoded(RoutingContext ctx, Buffer gzip) {
    if (!ctx.response().ended() && !ctx.response().closed()) {
      ctx.response().putHeader(HttpHeaders.CONTENT_ENCODING, "gzip");
      send(ctx, gzip);
    }
  }

  /** Sends the body as it is, and ends the response. */
  public static void send(RoutingContext ctx, Buffer body) {
    Watcher watcher = ctx.get(WATCHER);
    HttpServerResponse response = ctx.response();
    if (watcher == null || ctx.request().method() == HttpMethod.HEAD) {
      response.end(body);
      return;
    }
    watcher.began(body.length());
    ResponseBody sent = new ResponseBody(response, body, watcher);
    if (body.length() <= PART) {
      response.end(body).onComplete(done -> watcher.ended());
    } else {
      response.putHeader(HttpHeaders.CONTENT_LENGTH, Integer.toString(body.length()));
      response.drainHandler(drained -> sent.continued());
      sent.writeParts();
    }
  }

  /** A queue that drains while a part is written calls this again, within the loop. */
  private void writeParts() {
    if (writing) {
      return;
    }
    writing = true;
    while (written < body.length() && !response.closed() && !response.writeQueueFull()) {
      int from = written;
      written = Math.min(body.length(), from + PART);
      response.write(body.slice(from, written));
    }
    writing = false;
    if (written == body.length() && !response.closed()) {
      response.drainHandler(null);
      response.end().onComplete(done -> watcher.ended());
    }
  }

  private void continued() {
    watcher.progressed();
    writeParts();
  }
}
