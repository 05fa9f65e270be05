package dev.mcpbridge.transport;

/**
 * Keeps a fast reader from filling the heap: it may run ahead of its consumer by so many bytes, then
 * it waits, the pipe fills up, and the writer at its other end waits too. One message larger than
 * the allowance passes when nothing else is under way.
 */
final class ByteBrake {
  private final long allowance;
  private long underWay;

  ByteBrake(long allowance) {
    this.allowance = allowance;
  }

  /** Waits for room; called by the reading thread. */
  synchronized void take(long bytes) throws InterruptedException {
    while (underWay > 0 && underWay + bytes > allowance) {
      wait();
    }
    underWay += bytes;
  }

  /** Gives room back; called by the consumer, never waits. */
  synchronized void release(long bytes) {
    underWay -= bytes;
    notifyAll();
  }
}
