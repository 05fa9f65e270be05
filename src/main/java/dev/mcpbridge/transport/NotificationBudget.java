package dev.mcpbridge.transport;

/**
 * How many notifications a server may send: a steady rate with room for a burst. What is over it is
 * dropped where it is read, so that a flood costs its own reading thread and nobody else.
 */
final class NotificationBudget {
  private static final int PER_SECOND = 2_000;
  private static final int BURST = 10_000;

  private double tokens = BURST;
  private long last = System.nanoTime();

  boolean spend() {
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
