package dev.mcpbridge.transport;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps a fast reader from filling the heap: it may run ahead of its consumer by so many bytes,
 * then it waits, the pipe fills up, and the writer at its other end waits too. One message larger
 * than the allowance passes when nothing else is under way.
 */
final class ByteBrake {
  private final long allowance;
  private final AtomicLong underWay = new AtomicLong();
  private volatile Thread waiting;

  ByteBrake(long allowance) {
    this.allowance = allowance;
  }

  /** Waits for room; called by the reading thread. */
  void take(long bytes) throws InterruptedException {
    waiting = Thread.currentThread();
    while (isFullFor(bytes)) {
      LockSupport.park(this);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    waiting = null;
    underWay.addAndGet(bytes);
  }

  private boolean isFullFor(long bytes) {
    long now = underWay.get();
    return now > 0 && now + bytes > allowance;
  }

  /** Gives room back; called by the consumer, never waits. */
  void release(long bytes) {
    underWay.addAndGet(-bytes);
    Thread reader = waiting;
    if (reader != null) {
      LockSupport.unpark(reader);
    }
  }
}
