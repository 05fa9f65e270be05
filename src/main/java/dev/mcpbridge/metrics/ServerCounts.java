package dev.mcpbridge.metrics;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The calls of one server: their outcomes and durations. */
final class ServerCounts {
  final Durations answered = new Durations();

  /** Of those calls that waited. */
  final Durations queueWait = new Durations();

  private final LongAdder unchecked = new LongAdder();
  private final Map<String, LongAdder> otherOutcomes = new ConcurrentHashMap<>();

  void unchecked() {
    unchecked.increment();
  }

  long uncheckedSum() {
    return unchecked.sum();
  }

  void ended(String outcome) {
    otherOutcomes.computeIfAbsent(outcome, h -> new LongAdder()).increment();
  }

  Map<String, LongAdder> otherOutcomes() {
    return otherOutcomes;
  }
}
