package dev.mcpbridge.metrics;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/** The calls of one server: their outcomes, and the durations of those that were answered. */
final class ServerCounts {
  /** Upper bounds in seconds; the last bucket is unbounded. */
  static final double[] BOUNDS = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300
  };

  private final LongAdder[] buckets =
      Stream.generate(LongAdder::new).limit(BOUNDS.length + 1L).toArray(LongAdder[]::new);
  private final LongAdder nanos = new LongAdder();
  private final LongAdder unchecked = new LongAdder();
  private final Map<String, LongAdder> otherOutcomes = new ConcurrentHashMap<>();

  void answered(long durationNanos) {
    nanos.add(durationNanos);
    double seconds = durationNanos / 1e9;
    int bucket = 0;
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]) {
      bucket++;
    }
    buckets[bucket].increment();
  }

  void unchecked() {
    unchecked.increment();
  }

  long uncheckedSum() {
    return unchecked.sum();
  }

  void ended(String outcome) {
    otherOutcomes.computeIfAbsent(outcome, h -> new LongAdder()).increment();
  }

  /** The count of each bucket; the unbounded one is last. */
  long[] buckets() {
    return Arrays.stream(buckets).mapToLong(LongAdder::sum).toArray();
  }

  double seconds() {
    return nanos.sum() / 1e9;
  }

  Map<String, LongAdder> otherOutcomes() {
    return otherOutcomes;
  }
}
