package dev.mcpbridge.trace.otel;

import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.trace.Conventions;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import java.util.HashMap;
import java.util.Map;

/** A span of the SDK; or, for a request that is not recorded, only its context. */
final class OpenTelemetrySpan implements dev.mcpbridge.trace.Span {
  private final Span span;
  private final SpanContext parent;

  /**
   * @param parent the context that the request came with; invalid for none
   */
  OpenTelemetrySpan(Span span, SpanContext parent) {
    this.span = span;
    this.parent = parent;
  }

  SpanContext context() {
    return span.getSpanContext();
  }

  boolean isChildOf(SpanContext context) {
    return parent.isValid()
        && parent.getTraceId().equals(context.getTraceId())
        && parent.getSpanId().equals(context.getSpanId());
  }

  @Override
  public OpenTelemetrySpan set(String attribute, String value) {
    if (value != null) {
      span.setAttribute(attribute, value);
    }
    return this;
  }

  @Override
  public OpenTelemetrySpan set(String attribute, long value) {
    span.setAttribute(attribute, value);
    return this;
  }

  @Override
  public OpenTelemetrySpan failed(String errorType) {
    span.setAttribute(Conventions.ERROR_TYPE, errorType).setStatus(StatusCode.ERROR);
    return this;
  }

  @Override
  public void end() {
    span.end();
  }

  @Override
  public Envelope in(Envelope envelope) {
    Map<String, String> fields = new HashMap<>();
    W3CTraceContextPropagator.getInstance().inject(Context.root().with(span), fields, Map::put);
    Envelope result = envelope.withoutMeta(MetaKeys.TRACESTATE);
    for (Map.Entry<String, String> field : fields.entrySet()) {
      result = result.withMeta(field.getKey(), JsonObjects.quoted(field.getValue()));
    }
    return result;
  }

  @Override
  public boolean isRecorded() {
    return span.isRecording();
  }

  @Override
  public String traceId() {
    return span.getSpanContext().getTraceId();
  }
}
