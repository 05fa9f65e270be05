package dev.mcpbridge.http.reply;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A response of server-sent events (WHATWG HTML, section 9.2), kept alive by comments. A client
 * with more than 1 MiB of unsent events is disconnected.
 */
public final class EventStream {
  private static final long KEEP_ALIVE_MILLIS = 15_000;
  private static final int MAX_UNSENT = 1 << 20;

  private static final Pattern ACCEPTING = Pattern.compile("text/event-stream|text/\\*|\\*/\\*");

  private final RoutingContext ctx;
  private final HttpServerResponse response;
  private final long keepAlive;
  private final List<Runnable> closeHandlers = new ArrayList<>();
  private long unsent;
  private boolean ended;

  private EventStream(RoutingContext ctx) {
    this.ctx = ctx;
    this.response = ctx.response();
    this.keepAlive =
        ctx.vertx().setPeriodic(KEEP_ALIVE_MILLIS, t -> write(": keep-alive\n\n", null));
  }

  /** Sends the head and a first comment, so that the client sees an open stream. */
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
   * Requires a client that accepts event streams; one without Accept does.
   *
   * @throws BridgeException NOT_ACCEPTABLE
   */
  public static void require(RoutingContext ctx) {
    String accept = ctx.request().getHeader(HttpHeaders.ACCEPT);
    if (accept != null && !ACCEPTING.matcher(accept).find()) {
      throw new BridgeException(
          ErrorCode.NOT_ACCEPTABLE, "The Accept header must allow text/event-stream");
    }
  }

  /** Whether the client explicitly accepts an event stream. */
  public static boolean isWanted(RoutingContext ctx) {
    String accept = ctx.request().getHeader(HttpHeaders.ACCEPT);
    return accept != null && accept.contains("text/event-stream");
  }

  public void send(String event, JsonSlice data) {
    write("event: " + event + "\ndata: ", data);
  }

  /** Sends an event with an id, from which a client can resume. */
  public void send(String id, String event, JsonSlice data) {
    write("id: " + id + "\nevent: " + event + "\ndata: ", data);
  }

  /** Sends an id without an event. */
  public void mark(String id) {
    write("id: " + id + "\ndata: \n\n", null);
  }

  /** Registers a handler for the end of the stream, by either side; runs it now if it has ended. */
  public EventStream onClose(Runnable handler) {
    if (ended) {
      handler.run();
    } else {
      closeHandlers.add(handler);
    }
    return this;
  }

  /** Ends the stream; succeeds when everything is written. */
  public Future<Void> end() {
    if (ended) {
      return Future.failedFuture("The stream has already ended");
    }
    Future<Void> sent = response.end();
    closed();
    return sent;
  }

  private void write(String head, JsonSlice data) {
    if (ended) {
      return;
    }
    if (unsent > MAX_UNSENT) {
      Replies.disconnect(ctx);
      closed();
      return;
    }
    Buffer chunk = Buffer.buffer(head);
    if (data != null) {
      appendLines(chunk, data);
      chunk.appendString("\n\n");
    }
    unsent += chunk.length();
    response.write(chunk).onComplete(done -> unsent -= chunk.length());
  }

  /** JSON may contain line ends between tokens; in an event each line needs its own field. */
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
    if (!ended) {
      ended = true;
      ctx.vertx().cancelTimer(keepAlive);
      closeHandlers.forEach(Runnable::run);
    }
  }
}
