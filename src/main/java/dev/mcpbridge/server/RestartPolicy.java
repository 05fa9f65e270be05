package dev.mcpbridge.server;

import java.util.random.RandomGenerator;

/**
 * Delays the restart of a failed server: exponential backoff with jitter and a maximum, reset after
 * a healthy minute. (Equal jitter: half of the delay is fixed, so that a broken server is not
 * restarted in a tight loop; half is random, so that many servers do not restart at once.)
 */
final class RestartPolicy {
  private static final long BASE_MILLIS = 200;
  private static final long HEALTHY_MILLIS = 60_000;

  private final long maxMillis;
  private final RandomGenerator random;

  RestartPolicy(long maxMillis, RandomGenerator random) {
    this.maxMillis = maxMillis;
    this.random = random;
  }

  /**
   * @param attempt the number of consecutive failures before this one
   */
  long delayMillis(int attempt) {
    long full = Math.min(maxMillis, BASE_MILLIS << Math.min(attempt, 30));
    long half = Math.max(1, full / 2);
    return half + random.nextLong(half);
  }

  /** The number of consecutive failures after a run of the given duration. */
  int attemptAfter(int attempt, long uptimeMillis) {
    return uptimeMillis >= HEALTHY_MILLIS ? 0 : attempt;
  }
}
