package dev.mcpbridge.transport;

import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Context;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Reads a child's stdout to its end. Runs on a thread of its own, ahead of the context by a bounded
 * number of bytes, and waits where the bridge as a whole holds too many.
 */
final class StdoutPump implements Runnable, MessageReader.Courier {
  private static final int BUFFER = 64 * 1024;
  private static final long ALLOWANCE = 4 << 20;
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Context context;
  private final InputStream stdout;
  private final Consumer<String> ended;
  private final MessageReader reader;
  private final MemoryBudget memory;
  private final ByteBrake brake = new ByteBrake(ALLOWANCE);
  private final MemoryBudget.Share unfinished;
  private boolean impatient;

  StdoutPump(
      Context context,
      InputStream stdout,
      StdioTransport.Limits limits,
      TransportListener listener,
      Consumer<String> ended) {
    this.context = context;
    this.stdout = stdout;
    this.ended = ended;
    this.memory = limits.memory();
    this.unfinished = memory.share();
    this.reader = new MessageReader(limits, listener, this);
  }

  @Override
  public void run() {
    String reason = null;
    byte[] buffer = new byte[BUFFER];
    try (stdout) {
      for (int n = stdout.read(buffer); n >= 0 && reason == null; n = stdout.read(buffer)) {
        reader.feed(buffer, n);
        count(reader.held());
        reason = reader.excess();
      }
    } catch (IOException e) {
      // the process is gone and its pipe with it: the same as its end
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (OutOfMemoryError e) {
      reason = "a message of the process does not fit into the bridge's memory";
    } finally {
      unfinished.release();
    }
    String why = reason;
    context.runOnContext(v -> ended.accept(why));
  }

  /** A line that is a large one is read on when there is room for it, or after a while. */
  private void count(int held) throws InterruptedException {
    if (held < MemoryBudget.LARGE) {
      unfinished.release();
    } else if (!hasRoom(held)) {
      unfinished.take(held);
    }
  }

  /** Waits for it once; what comes after that in vain is told so at once, until there is room. */
  private boolean hasRoom(long bytes) throws InterruptedException {
    long end = System.nanoTime() + BackpressuredBody.PATIENCE_NANOS;
    while (!unfinished.takeIfRoom(bytes)) {
      if (impatient || System.nanoTime() - end > 0) {
        impatient = true;
        return false;
      }
      LockSupport.parkNanos(LOOK_NANOS);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    impatient = false;
    return true;
  }

  @Override
  public void deliver(long bytes, Runnable news, Runnable loss) throws InterruptedException {
    if (bytes < MemoryBudget.LARGE) {
      hand(bytes, news);
    } else if (hasRoom(bytes)) {
      handLarge(bytes, news);
    } else {
      unfinished.release();
      hand(0, loss);
    }
  }

  private void hand(long bytes, Runnable news) throws InterruptedException {
    if (bytes > 0) {
      brake.take(bytes);
    }
    context.runOnContext(v -> handed(bytes, news));
  }

  /**
   * It is whole now: who is still on the way in waits for it as for an answer. As one it is counted
   * in the turn after this, which is the bus'; in a cluster there is another one between.
   */
  private void handLarge(long bytes, Runnable news) throws InterruptedException {
    brake.take(bytes);
    unfinished.becomesGiven();
    try {
      context.runOnContext(v -> handedLarge(bytes, news));
    } catch (OutOfMemoryError e) {
      memory.taken(bytes);
      throw e;
    }
  }

  private void handedLarge(long bytes, Runnable news) {
    try {
      handed(bytes, news);
    } finally {
      context.runOnContext(v -> memory.taken(bytes));
    }
  }

  private void handed(long bytes, Runnable news) {
    try {
      news.run();
    } finally {
      if (bytes > 0) {
        brake.release(bytes);
      }
    }
  }
}
