package dev.mcpbridge.transport;

/**
 * Rate limit for the notifications of one server: a token bucket with a steady rate and a burst.
 * The excess is dropped on the reading thread, so that a flood does not affect other servers.
 */
final class NotificationBudget {
  private static final int PER_SECOND = 2_000;
  private static final int BURST = 10_000;

  private double tokens = BURST;
  private long last = System.nanoTime();

  /** Takes a token; false if the bucket is empty. */
  boolean tryAcquire() {
    if (tokens < 1) {
      long now = System.nanoTime();
      tokens = Math.min(BURST, tokens + (now - last) * 1e-9 * PER_SECOND);
      last = now;
      if (tokens < 1) {
        return false;
      }
    }
    tokens -= 1;
    return true;
  }
}
