package dev.mcpbridge.server;

import java.util.random.RandomGenerator;

/**
 * When a failed server is tried again: exponential backoff with jitter and a ceiling, from the
 * beginning after a healthy minute. (Equal jitter: half of the delay is fixed, so that a broken
 * server is never hammered, half is random, so that many do not come back at once.)
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
   * @param attempt failures in a row before this one
   */
  long delayMillis(int attempt) {
    long full = Math.min(maxMillis, BASE_MILLIS << Math.min(attempt, 30));
    long half = Math.max(1, full / 2);
    return half + random.nextLong(half);
  }

  /** How many failures in a row it is after a life of so long. */
  int attemptAfter(int attempt, long livedMillis) {
    return livedMillis >= HEALTHY_MILLIS ? 0 : attempt;
  }
}
