package dev.mcpbridge.http.reply;

import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.TraceContext;
import dev.mcpbridge.trace.Conventions;
import dev.mcpbridge.trace.Span;
import dev.mcpbridge.trace.Tracer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import java.util.Locale;

/** The span of an HTTP request: begun when its route is known, read by the doors. */
public final class RequestSpan {
  private static final String KEY = RequestSpan.class.getName();

  private RequestSpan() {}

  /**
   * Begins the span, which ends with the response.
   *
   * @param name method and route
   * @param route path of the route, with parameters
   */
  public static void begin(RoutingContext ctx, Tracer tracer, String name, String route) {
    HttpServerRequest request = ctx.request();
    Span span = tracer.receive(name, request::getHeader, Span.NONE, Callers.share(ctx));
    if (span != Span.NONE) {
      ctx.put(KEY, span);
    }
    if (span.isRecorded()) {
      span.set(Conventions.HTTP_METHOD, request.method().name())
          .set(Conventions.HTTP_ROUTE, route)
          .set(Conventions.URL_PATH, hasSecret(route) ? null : request.path())
          .set(Conventions.URL_SCHEME, request.scheme().toLowerCase(Locale.ROOT))
          .set(Conventions.CLIENT_ADDRESS, request.connection().remoteAddress().hostAddress());
      ctx.addBodyEndHandler(written -> end(ctx, span));
      ctx.addEndHandler(sent -> end(ctx, span));
    }
  }

  /** Ids of calls and confirmations are known only to their callers, and URIs may have secrets. */
  private static boolean hasSecret(String route) {
    return route.contains("{call}") || route.contains("{uri}") || route.contains("{confirmation}");
  }

  /** Only failures of the server count as errors (semantic conventions of HTTP). */
  private static void end(RoutingContext ctx, Span span) {
    int status = ctx.response().getStatusCode();
    if (!span.isRecorded()) {
      return;
    }
    if (!ctx.response().headWritten()) {
      span.failed(ErrorCode.CANCELLED.slug());
    } else {
      span.set(Conventions.HTTP_STATUS, status);
    }
    if (status >= 500) {
      span.failed(Integer.toString(status));
    }
    span.end();
  }

  /** The span of a request; {@link Span#NONE} if it has none. */
  public static Span of(RoutingContext ctx) {
    return ctx.get(KEY) instanceof Span span ? span : Span.NONE;
  }

  /** The id of the trace of a request; null for one without a trace context. */
  static String traceId(RoutingContext ctx) {
    String recorded = of(ctx).traceId();
    TraceContext sent = TraceContext.of(ctx.request().getHeader(MetaKeys.TRACEPARENT));
    return recorded == null && sent != null ? sent.traceId() : recorded;
  }

  /**
   * The envelope of the calls of a request whose client sends only arguments. Without a span it has
   * the context of the client.
   */
  public static Envelope envelope(RoutingContext ctx) {
    Envelope envelope = Envelope.NONE.withUrgency(PriorityField.urgency(ctx));
    Span span = of(ctx);
    if (span != Span.NONE) {
      return span.in(envelope);
    }
    String parent = ctx.request().getHeader(MetaKeys.TRACEPARENT);
    return parent == null
        ? envelope
        : TraceContext.add(envelope, parent, ctx.request().getHeader(MetaKeys.TRACESTATE));
  }
}
