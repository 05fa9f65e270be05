package dev.mcpbridge.http.reply;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpVersion;
import io.vertx.ext.web.RoutingContext;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;

/**
 * Renders failures as problem documents (RFC 9457): the members {@code type}, {@code title}, {@code
 * status}, {@code detail}, and as extensions {@code code}, {@code executed}, {@code retryable},
 * {@code requestId} and {@code error}, the detail under the name that the original API used.
 */
public final class Problems {
  private static final Logger LOG = System.getLogger(Problems.class.getName());
  private static final CharSequence PROBLEM =
      HttpHeaders.createOptimized("application/problem+json");

  private static final long LINGER_MILLIS = 2_000;

  private Problems() {}

  /** The failure handler of every route. */
  public static void render(RoutingContext ctx) {
    BridgeException failure = failure(ctx);
    if (ctx.response().ended() || ctx.response().headWritten()) {
      Replies.disconnect(ctx);
      return;
    }
    send(ctx, failure);
  }

  /** A failure while the body is being read is a framing error. */
  private static BridgeException failure(RoutingContext ctx) {
    Throwable thrown = ctx.failure();
    boolean whileReading =
        thrown != null && !ctx.request().isEnded() && Replies.hasBody(ctx.request());
    if (whileReading && !(thrown instanceof BridgeException) && ctx.statusCode() != 413) {
      return new BridgeException(ErrorCode.MALFORMED_REQUEST, "The body cannot be read");
    }
    return failure(thrown, ctx.statusCode() > 0 ? ctx.statusCode() : 500);
  }

  public static void send(RoutingContext ctx, BridgeException failure) {
    if (failure.retryAfterSeconds() > 0) {
      ctx.response().putHeader(HttpHeaders.RETRY_AFTER, "" + failure.retryAfterSeconds());
    }
    Challenges.add(ctx, failure);
    if (failure.members().get("allow") instanceof String allow) {
      ctx.response().putHeader(HttpHeaders.ALLOW, allow);
    }
    boolean isMalformed = failure.code() == ErrorCode.MALFORMED_REQUEST;
    if (!ctx.request().isEnded() && ctx.request().version() == HttpVersion.HTTP_2) {
      ctx.request()
          .handler(chunk -> {})
          .exceptionHandler(broken -> {})
          .endHandler(end -> {})
          .resume();
    } else if (!ctx.request().isEnded() && !isMalformed && !Replies.hasBody(ctx.request())) {
      ctx.request().resume(); // only its end has not been read
    } else if (!ctx.request().isEnded()) {
      ctx.response().putHeader(HttpHeaders.CONNECTION, "close");
      linger(ctx);
    }
    Replies.send(ctx, failure.code().status(), PROBLEM, document(ctx, failure, requestId(ctx)));
  }

  /**
   * Closing a connection while the client still sends would reset it and lose the response. The
   * rest of the request is read and discarded for up to two seconds (RFC 9112 section 9.6). Over
   * HTTP/2 only its stream ends.
   */
  private static void linger(RoutingContext ctx) {
    HttpConnection connection = ctx.request().connection();
    long timer = ctx.vertx().setTimer(LINGER_MILLIS, t -> connection.close());
    ctx.request()
        .handler(chunk -> {})
        .exceptionHandler(broken -> ctx.vertx().cancelTimer(timer))
        .endHandler(
            v -> {
              ctx.vertx().cancelTimer(timer);
              connection.close();
            })
        .resume();
  }

  /** The failure for a throwable; details of an unexpected one are not exposed. */
  public static BridgeException of(Throwable thrown) {
    return failure(thrown, 500);
  }

  public static JsonSlice document(BridgeException failure, String requestId) {
    return document(failure, requestId, null);
  }

  /** The document for a call of a request, with the trace of the request. */
  public static JsonSlice document(RoutingContext ctx, BridgeException failure, String requestId) {
    return document(failure, requestId, RequestSpan.traceId(ctx));
  }

  /**
   * @param traceId null for a request without a trace context
   */
  private static JsonSlice document(BridgeException failure, String requestId, String traceId) {
    ErrorCode code = failure.code();
    JsonWriter out =
        new JsonWriter()
            .beginObject()
            .member("type", "about:blank")
            .member("title", code.slug().replace('_', ' '))
            .member("status", code.status())
            .member("detail", failure.getMessage())
            .member("error", failure.getMessage())
            .member("code", code.slug())
            .member("executed", failure.executed().apiName())
            .member("retryable", code.retryable() && failure.executed() == Executed.NO)
            .member("requestId", requestId);
    if (traceId != null) {
      out.member("traceId", traceId);
    }
    failure
        .members()
        .forEach(
            (name, value) -> {
              if (!name.equals("allow")) {
                member(out, name, value);
              }
            });
    return out.endObject().toSlice();
  }

  /** Writes one member of a failure. */
  public static void member(JsonWriter out, String name, Object value) {
    out.name(name);
    if (value instanceof JsonSlice json) {
      out.value(json);
    } else if (value instanceof List<?> list) {
      out.beginArray();
      list.forEach(item -> out.value(item.toString()));
      out.endArray();
    } else {
      out.value(String.valueOf(value));
    }
  }

  /** A name from a request, as it may be repeated in a message. */
  public static String printable(String name) {
    return name == null || name.length() > 100 ? "…" : name.replaceAll("\\p{Cntrl}", "?");
  }

  private static BridgeException failure(Throwable thrown, int status) {
    if (thrown instanceof BridgeException failure) {
      return failure;
    }
    if (thrown != null && status == 500) {
      StringWriter trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));
      LOG.log(Level.ERROR, () -> "code=internal_error " + trace);
    }
    return switch (status) {
      case 400 -> new BridgeException(ErrorCode.MALFORMED_REQUEST, "The request is malformed");
      case 404 -> new BridgeException(ErrorCode.NOT_FOUND, "No such resource");
      case 408 -> new BridgeException(ErrorCode.REQUEST_TIMEOUT, "The body was sent too slowly");
      case 413 -> new BridgeException(ErrorCode.TOO_LARGE, "The body is too large");
      default -> BridgeException.of(thrown);
    };
  }

  private static String requestId(RoutingContext ctx) {
    String id = ctx.get("requestId");
    return id != null ? id : Long.toString(System.nanoTime(), 36);
  }
}
