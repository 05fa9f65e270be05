package dev.mcpbridge.metrics;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/** Durations in buckets, each with an example that was traced. Thread-safe. */
public final class Durations {
  /** Upper bounds in seconds; the last bucket is unbounded. */
  static final double[] BOUNDS = {
    0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
    300, 1800
  };

  private final LongAdder[] buckets =
      Stream.generate(LongAdder::new).limit(BOUNDS.length + 1L).toArray(LongAdder[]::new);
  private final LongAdder nanos = new LongAdder();
  private final AtomicReferenceArray<Example> examples =
      new AtomicReferenceArray<>(BOUNDS.length + 1);

  /**
   * The last traced duration of a bucket.
   *
   * @param traceId 32 hexadecimal digits
   * @param spanId 16 hexadecimal digits
   */
  record Example(double seconds, String traceId, String spanId, long atMillis) {}

  public void add(long durationNanos) {
    nanos.add(durationNanos);
    buckets[bucket(durationNanos)].increment();
  }

  /** Remembers a duration that was added as an example, since its trace is recorded. */
  void example(long durationNanos, String traceId, String spanId) {
    Example example = new Example(durationNanos / 1e9, traceId, spanId, System.currentTimeMillis());
    examples.set(bucket(durationNanos), example);
  }

  private static int bucket(long durationNanos) {
    double seconds = durationNanos / 1e9;
    int bucket = 0;
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]) {
      bucket++;
    }
    return bucket;
  }

  /** The count of each bucket; the unbounded one is last. */
  long[] buckets() {
    return Arrays.stream(buckets).mapToLong(LongAdder::sum).toArray();
  }

  /** The examples of the buckets that have one. */
  Stream<Example> examples() {
    return Stream.iterate(0, i -> i + 1)
        .limit(examples.length())
        .map(examples::get)
        .filter(example -> example != null);
  }

  double seconds() {
    return nanos.sum() / 1e9;
  }
}
