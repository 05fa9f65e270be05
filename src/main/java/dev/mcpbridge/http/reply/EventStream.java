package dev.mcpbridge.http.reply;

import dev.mcpbridge.config.HttpConfig.Compressed;
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
 * with more than 1 MiB of unsent events is disconnected. If the client accepts it, events without
 * secrets are compressed; each is sent at once nevertheless.
 */
public final class EventStream {
  private static final long KEEP_ALIVE_MILLIS = 15_000;
  private static final int MAX_UNSENT = 1 << 20;

  /** A message of the largest size that is being compressed, and what comes meanwhile. */
  private static final int MAX_WAITING = 64 << 20;

  private static final Pattern ACCEPTING = Pattern.compile("text/event-stream|text/\\*|\\*/\\*");

  private final RoutingContext ctx;
  private final HttpServerResponse response;
  private final long keepAlive;
  private final List<Runnable> closeHandlers = new ArrayList<>();

  /** Null if nothing is compressed. */
  private final GzipStream gzip;

  private long unsent;
  private boolean ended;

  private EventStream(RoutingContext ctx, Compression compression) {
    this.ctx = ctx;
    this.response = ctx.response();
    this.gzip = compression == null ? null : new GzipStream(compression, response);
    this.keepAlive =
        ctx.vertx().setPeriodic(KEEP_ALIVE_MILLIS, t -> write(": keep-alive\n\n", null, false));
  }

  /**
   * Sends the head and a first comment, so that the client sees an open stream.
   *
   * @param content what its events are
   */
  public static EventStream open(RoutingContext ctx, Compressed content) {
    Compression compression = Compression.of(ctx, content);
    EventStream stream = new EventStream(ctx, compression);
    if (compression != null) {
      ctx.response().putHeader(HttpHeaders.CONTENT_ENCODING, "gzip");
    }
    stream
        .response
        .setChunked(true)
        .putHeader(HttpHeaders.CONTENT_TYPE, "text/event-stream")
        .putHeader(HttpHeaders.CACHE_CONTROL, "no-store")
        .putHeader("x-accel-buffering", "no");
    stream.response.closeHandler(v -> stream.closed());
    stream.response.exceptionHandler(e -> stream.closed());
    stream.write(": open\n\n", null, false);
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

  /** Sends an event. */
  public void send(String event, JsonSlice data) {
    write("event: " + event + "\ndata: ", data, true);
  }

  /** Sends an event that may have a secret. */
  public void sendSecret(String event, JsonSlice data) {
    write("event: " + event + "\ndata: ", data, false);
  }

  /**
   * Sends an event with an id, from which a client can resume.
   *
   * @param hasSecret whether it may have a secret
   */
  public void send(String id, String event, JsonSlice data, boolean hasSecret) {
    write("id: " + id + "\nevent: " + event + "\ndata: ", data, !hasSecret);
  }

  /** Sends an id without an event. */
  public void mark(String id) {
    write("id: " + id + "\ndata: \n\n", null, false);
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
    Future<Void> sent = gzip == null ? response.end() : gzip.end();
    closed();
    return sent;
  }

  private void write(String head, JsonSlice data, boolean compresses) {
    if (ended) {
      return;
    }
    long waiting = gzip == null ? 0 : gzip.waitingBytes();
    if (unsent - waiting > MAX_UNSENT || waiting > MAX_WAITING) {
      abort();
      return;
    }
    Buffer chunk = Buffer.buffer(head);
    if (data != null) {
      appendLines(chunk, data);
      chunk.appendString("\n\n");
    }
    unsent += chunk.length();
    Future<Void> written = gzip == null ? response.write(chunk) : gzip.write(chunk, compresses);
    written.onComplete(done -> unsent -= chunk.length());
    if (gzip != null) {
      written.onFailure(failure -> abort());
    }
  }

  private void abort() {
    if (!ended) {
      Replies.disconnect(ctx);
      closed();
    }
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
