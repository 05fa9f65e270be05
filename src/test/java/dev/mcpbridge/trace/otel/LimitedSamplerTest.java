package dev.mcpbridge.trace.otel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.bucket4j.TimeMeter;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LimitedSamplerTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN = "b7ad6b7169203331";

  private long nanos = 1;

  private Sampler limited(Sampler sampler, int perSecond) {
    TimeMeter clock =
        new TimeMeter() {
          @Override
          public long currentTimeNanos() {
            return nanos;
          }

          @Override
          public boolean isWallClockBased() {
            return false;
          }
        };
    return new LimitedSampler(sampler, perSecond, clock);
  }

  private static Context parent(boolean isRemote, TraceFlags flags) {
    SpanContext context =
        isRemote
            ? SpanContext.createFromRemoteParent(TRACE, SPAN, flags, TraceState.getDefault())
            : SpanContext.create(TRACE, SPAN, flags, TraceState.getDefault());
    return Context.root().with(Span.wrap(context));
  }

  private static long recorded(Sampler sampler, Context parent) {
    return IntStream.range(0, 100)
        .filter(
            i ->
                sampler
                        .shouldSample(
                            parent, TRACE, "x", SpanKind.SERVER, Attributes.empty(), List.of())
                        .getDecision()
                    == SamplingDecision.RECORD_AND_SAMPLE)
        .count();
  }

  @Test
  void callersCanHaveOnlySoManyRequestsRecordedInASecond() {
    Sampler sampler = limited(Sampler.parentBased(Sampler.alwaysOff()), 10);

    long recorded = recorded(sampler, parent(true, TraceFlags.getSampled()));

    assertEquals(5, recorded, "half of the rate, as they are of one caller");
    nanos += 1_000_000_000;
    assertEquals(5, recorded(sampler, parent(true, TraceFlags.getSampled())));
  }

  @Test
  void aGreedyCallerLeavesHalfOfTheRateToTheOthers() {
    Sampler sampler = limited(Sampler.parentBased(Sampler.alwaysOff()), 100);
    Context requested = parent(true, TraceFlags.getSampled());

    long greedy = recorded(sampler, LimitedSampler.requestedBy("greedy", requested));
    long modest = recorded(sampler, LimitedSampler.requestedBy("modest", requested));
    long third = recorded(sampler, LimitedSampler.requestedBy("third", requested));

    assertEquals(50, greedy);
    assertEquals(50, modest);
    assertEquals(0, third, "all together have no more than the rate");
  }

  @Test
  void withoutARateCallersCanHaveNothingRecorded() {
    Sampler sampler = limited(Sampler.parentBased(Sampler.alwaysOn()), 0);

    assertEquals(0, recorded(sampler, parent(true, TraceFlags.getSampled())));
    assertEquals(0, recorded(sampler, parent(true, TraceFlags.getDefault())));
    assertEquals(100, recorded(sampler, Context.root()));
  }

  @Test
  void stepsWithinTheBridgeAreNotLimited() {
    Sampler sampler = limited(Sampler.parentBased(Sampler.alwaysOff()), 1);

    assertEquals(100, recorded(sampler, parent(false, TraceFlags.getSampled())));
  }
}
