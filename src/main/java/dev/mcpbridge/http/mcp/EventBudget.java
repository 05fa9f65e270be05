package dev.mcpbridge.http.mcp;

/** The bytes that all streams together may keep for clients that lost their connection. */
final class EventBudget {
  private final long max;
  private long taken;

  EventBudget(long max) {
    this.max = max;
  }

  /** Whether there was room. */
  boolean take(int bytes) {
    if (taken + bytes > max) {
      return false;
    }
    taken += bytes;
    return true;
  }

  void giveBack(int bytes) {
    taken -= bytes;
  }
}
