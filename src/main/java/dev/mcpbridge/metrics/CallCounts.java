package dev.mcpbridge.metrics;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ObjLongConsumer;

/** Calls of a server or of a tool: how long the answered ones took, and how the others ended. */
final class CallCounts {
  final Durations answered = new Durations();
  private final Map<String, LongAdder> otherOutcomes = new ConcurrentHashMap<>();

  void ended(String outcome) {
    otherOutcomes.computeIfAbsent(outcome, first -> new LongAdder()).increment();
  }

  /** Passes on each outcome and how many calls had it. */
  void forEachOutcome(ObjLongConsumer<String> each) {
    each.accept("answered", Arrays.stream(answered.buckets()).sum());
    otherOutcomes.forEach((outcome, count) -> each.accept(outcome, count.sum()));
  }
}
