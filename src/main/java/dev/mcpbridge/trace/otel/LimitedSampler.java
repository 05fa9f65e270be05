package dev.mcpbridge.trace.otel;

import io.github.bucket4j.Bucket;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.time.Duration;
import java.util.List;

/**
 * Records requests whose callers ask for it only up to a rate: else each caller could switch
 * recording on for the whole load.
 */
final class LimitedSampler implements Sampler {
  private final Sampler sampler;
  private final Bucket requested;

  /**
   * @param perSecond 0 to ignore what callers ask for
   */
  LimitedSampler(Sampler sampler, int perSecond) {
    this.sampler = sampler;
    this.requested =
        perSecond == 0
            ? null
            : Bucket.builder()
                .addLimit(
                    limit ->
                        limit.capacity(perSecond).refillGreedy(perSecond, Duration.ofSeconds(1)))
                .build();
  }

  @Override
  public SamplingResult shouldSample(
      Context parentContext,
      String traceId,
      String name,
      SpanKind kind,
      Attributes attributes,
      List<LinkData> links) {
    SpanContext parent = Span.fromContext(parentContext).getSpanContext();
    boolean isRequested = parent.isRemote() && parent.isSampled();
    return isRequested && (requested == null || !requested.tryConsume(1))
        ? SamplingResult.drop()
        : sampler.shouldSample(parentContext, traceId, name, kind, attributes, links);
  }

  @Override
  public String getDescription() {
    return "Limited{" + sampler.getDescription() + "}";
  }
}
