package dev.mcpbridge.perf;

import java.util.Arrays;

/** Latencies in nanoseconds, and the time in which they were collected. Not thread-safe. */
final class Samples {
  private long[] nanos = new long[1 << 16];
  private int count;
  private long elapsedNanos;

  void add(long sample) {
    if (count == nanos.length) {
      nanos = Arrays.copyOf(nanos, count * 2);
    }
    nanos[count++] = sample;
  }

  Samples finish(long elapsed) {
    elapsedNanos = elapsed;
    Arrays.sort(nanos, 0, count);
    return this;
  }

  double perSecond() {
    return count * 1e9 / elapsedNanos;
  }

  double micros(double quantile) {
    return count == 0 ? 0 : nanos[Math.min(count - 1, (int) (count * quantile))] / 1e3;
  }
}
