package dev.mcpbridge.http.mcp.reply;

/** The bytes that all streams together may buffer for disconnected clients. */
public final class EventBudget {
  private final long max;
  private long used;

  public EventBudget(long max) {
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
