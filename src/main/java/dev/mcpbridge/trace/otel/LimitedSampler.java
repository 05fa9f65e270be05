package dev.mcpbridge.trace.otel;

import dev.mcpbridge.limit.BoundedMap;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.TimeMeter;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Records requests whose callers ask for it only up to a rate, and half of it for one caller: else
 * each could switch recording on for the whole load, or use up what the others may have recorded.
 * Thread-safe.
 */
final class LimitedSampler implements Sampler {
  private static final ContextKey<String> CALLER = ContextKey.named("caller");
  private static final int MAX_CALLERS = 1_000;

  private final Sampler sampler;
  private final int perSecond;
  private final TimeMeter clock;
  private final Bucket requested;
  private final Map<String, Bucket> shares = new BoundedMap<>(MAX_CALLERS);

  /**
   * @param perSecond 0 to ignore what callers ask for
   */
  LimitedSampler(Sampler sampler, int perSecond, TimeMeter clock) {
    this.sampler = sampler;
    this.clock = clock;
    this.perSecond = perSecond;
    this.requested = perSecond == 0 ? null : bucket(perSecond);
  }

  /** A context that a caller has sent. */
  static Context requestedBy(String caller, Context sent) {
    return sent.with(CALLER, caller);
  }

  private Bucket bucket(int perSecond) {
    return Bucket.builder()
        .withCustomTimePrecision(clock)
        .addLimit(limit -> limit.capacity(perSecond).refillGreedy(perSecond, Duration.ofSeconds(1)))
        .build();
  }

  private synchronized boolean mayRecord(String caller) {
    if (requested == null) {
      return false;
    }
    Bucket share =
        shares.computeIfAbsent(String.valueOf(caller), c -> bucket(Math.max(1, perSecond / 2)));
    return share.tryConsume(1) && requested.tryConsume(1);
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
    return isRequested && !mayRecord(parentContext.get(CALLER))
        ? SamplingResult.drop()
        : sampler.shouldSample(parentContext, traceId, name, kind, attributes, links);
  }

  @Override
  public String getDescription() {
    return "Limited{" + sampler.getDescription() + "}";
  }
}
