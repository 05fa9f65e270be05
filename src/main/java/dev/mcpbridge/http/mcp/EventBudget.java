package dev.mcpbridge.http.mcp;

/** The bytes that all streams together may buffer for disconnected clients. */
final class EventBudget {
  private final long max;
  private long used;

  EventBudget(long max) {
    this.max = max;
  }

  /** Reserves bytes; false if there is no room. */
  boolean tryReserve(int bytes) {
    if (used + bytes > max) {
      return false;
    }
    used += bytes;
    return true;
  }

  void release(int bytes) {
    used -= bytes;
  }
}
