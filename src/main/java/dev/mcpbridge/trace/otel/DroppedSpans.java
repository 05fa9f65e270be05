package dev.mcpbridge.trace.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.metrics.InstrumentType;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.CollectionRegistration;
import io.opentelemetry.sdk.metrics.export.MetricReader;
import java.util.Objects;

/** Reads from the SDK's own metrics how many spans it has lost. */
final class DroppedSpans implements MetricReader {
  private volatile CollectionRegistration metrics;

  @Override
  public void register(CollectionRegistration registration) {
    metrics = registration;
  }

  long count() {
    CollectionRegistration registered = metrics;
    return registered == null
        ? 0
        : registered.collectAllMetrics().stream().mapToLong(DroppedSpans::lost).sum();
  }

  /** Those that found no room in the queue, and those that could not be exported. */
  private static long lost(MetricData metric) {
    AttributeKey<Boolean> outcome =
        switch (metric.getName()) {
          case "processedSpans" -> AttributeKey.booleanKey("dropped");
          case "otlp.exporter.exported" -> AttributeKey.booleanKey("success");
          default -> null;
        };
    boolean lost = metric.getName().equals("processedSpans");
    return outcome == null
        ? 0
        : metric.getLongSumData().getPoints().stream()
            .filter(point -> Objects.equals(point.getAttributes().get(outcome), lost))
            .mapToLong(LongPointData::getValue)
            .sum();
  }

  @Override
  public CompletableResultCode forceFlush() {
    return CompletableResultCode.ofSuccess();
  }

  @Override
  public CompletableResultCode shutdown() {
    return CompletableResultCode.ofSuccess();
  }

  @Override
  public AggregationTemporality getAggregationTemporality(InstrumentType instrumentType) {
    return AggregationTemporality.CUMULATIVE;
  }
}
