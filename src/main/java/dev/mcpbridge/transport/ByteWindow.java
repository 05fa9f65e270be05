package dev.mcpbridge.transport;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Back-pressure between a reading thread and its consumer. The reader may be ahead of the consumer
 * by a bounded number of bytes; beyond that it blocks, the pipe fills up, and the writer at the
 * other end blocks too. A message larger than the allowance passes when nothing else is in flight.
 */
final class ByteWindow {
  private final long allowance;
  private final AtomicLong inFlight = new AtomicLong();
  private volatile Thread waiting;

  ByteWindow(long allowance) {
    this.allowance = allowance;
  }

  /** Blocks until there is room; called by the reading thread. */
  void acquire(long bytes) throws InterruptedException {
    waiting = Thread.currentThread();
    while (isFullFor(bytes)) {
      LockSupport.park(this);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    waiting = null;
    inFlight.addAndGet(bytes);
  }

  private boolean isFullFor(long bytes) {
    long current = inFlight.get();
    return current > 0 && current + bytes > allowance;
  }

  /** Returns bytes to the allowance; called by the consumer, never blocks. */
  void release(long bytes) {
    inFlight.addAndGet(-bytes);
    Thread reader = waiting;
    if (reader != null) {
      LockSupport.unpark(reader);
    }
  }
}
