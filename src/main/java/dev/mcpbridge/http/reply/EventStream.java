package dev.mcpbridge.http.reply;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A response of server-sent events (WHATWG HTML, section 9.2), kept alive by comments. A reader who
 * does not keep up is cut off once so many bytes wait for it, and nobody else notices.
 */
public final class EventStream {
  private static final long KEEP_ALIVE_MILLIS = 15_000;
  private static final int MAX_BEHIND = 1 << 20;

  private static final Pattern ACCEPTING = Pattern.compile("text/event-stream|text/\\*|\\*/\\*");

  private final Vertx vertx;
  private final RoutingContext ctx;
  private final HttpServerResponse response;
  private final long keepAlive;
  private final List<Runnable> closeHandlers = new ArrayList<>();
  private long behind;
  private boolean over;

  private EventStream(RoutingContext ctx) {
    this.ctx = ctx;
    this.vertx = ctx.vertx();
    this.response = ctx.response();
    this.keepAlive = vertx.setPeriodic(KEEP_ALIVE_MILLIS, t -> write(": keep-alive\n\n", null));
  }

  /** Sends the head and the first comment, so that the client knows that it listens. */
  public static EventStream open(RoutingContext ctx) {
    EventStream stream = new EventStream(ctx);
    stream
        .response
        .setChunked(true)
        .putHeader(HttpHeaders.CONTENT_TYPE, "text/event-stream")
        .putHeader(HttpHeaders.CACHE_CONTROL, "no-store")
        .putHeader("x-accel-buffering", "no");
    stream.response.closeHandler(v -> stream.closed());
    stream.response.exceptionHandler(e -> stream.closed());
    stream.write(": open\n\n", null);
    return stream;
  }

  /**
   * Where an event stream is the only representation, a request without Accept gets it, too.
   *
   * @throws BridgeException NOT_ACCEPTABLE where the caller takes none
   */
  public static void require(RoutingContext ctx) {
    String accept = ctx.request().getHeader(HttpHeaders.ACCEPT);
    if (accept != null && !ACCEPTING.matcher(accept).find()) {
      throw new BridgeException(
          ErrorCode.NOT_ACCEPTABLE,
          "GET answers with text/event-stream here, which Accept must allow");
    }
  }

  /** Whether the caller asked for one. */
  public static boolean isWanted(RoutingContext ctx) {
    String accept = ctx.request().getHeader(HttpHeaders.ACCEPT);
    return accept != null && accept.contains("text/event-stream");
  }

  public void send(String event, JsonSlice data) {
    write("event: " + event + "\ndata: ", data);
  }

  /** An event that a client can name when it comes back. */
  public void send(String id, String event, JsonSlice data) {
    write("id: " + id + "\nevent: " + event + "\ndata: ", data);
  }

  /** No event, but where one can come back to. */
  public void mark(String id) {
    write("id: " + id + "\ndata: \n\n", null);
  }

  /** Runs when the stream is over, whoever ended it. */
  public EventStream onClose(Runnable handler) {
    if (over) {
      handler.run();
    } else {
      closeHandlers.add(handler);
    }
    return this;
  }

  /** Succeeds when everything is on its way to the reader. */
  public Future<Void> end() {
    if (over) {
      return Future.failedFuture("The reader has left");
    }
    Future<Void> sent = response.end();
    closed();
    return sent;
  }

  private void write(String head, JsonSlice data) {
    if (over) {
      return;
    }
    if (behind > MAX_BEHIND) {
      ctx.request().connection().close();
      closed();
      return;
    }
    Buffer chunk = Buffer.buffer(head);
    if (data != null) {
      appendLines(chunk, data);
      chunk.appendString("\n\n");
    }
    behind += chunk.length();
    response.write(chunk).onComplete(done -> behind -= chunk.length());
  }

  /** JSON may hold line ends between its tokens; in an event each line needs its own field. */
  private static void appendLines(Buffer chunk, JsonSlice data) {
    int from = data.from();
    for (int i = data.from(); i < data.to(); i++) {
      byte b = data.bytes()[i];
      if (b == '\n' || b == '\r') {
        chunk.appendBytes(data.bytes(), from, i - from).appendString("\ndata: ");
        from = i + 1;
      }
    }
    chunk.appendBytes(data.bytes(), from, data.to() - from);
  }

  private void closed() {
    if (!over) {
      over = true;
      vertx.cancelTimer(keepAlive);
      closeHandlers.forEach(Runnable::run);
    }
  }
}
