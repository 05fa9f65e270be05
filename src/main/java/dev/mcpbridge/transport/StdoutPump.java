package dev.mcpbridge.transport;

import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Context;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Reads a child's stdout to its end. Runs on its own thread, ahead of the context by a bounded
 * number of bytes, and blocks while the bridge's memory budget is exhausted.
 */
final class StdoutPump implements Runnable, MessageReader.ContextDispatcher {
  private static final int BUFFER = 64 * 1024;
  private static final long ALLOWANCE = 4 << 20;
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Context context;
  private final InputStream stdout;
  private final Consumer<String> ended;
  private final MessageReader reader;
  private final MemoryBudget memory;
  private final ByteWindow brake = new ByteWindow(ALLOWANCE);
  private final MemoryBudget.Share incomplete;
  private boolean waitTimedOut;

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
    this.incomplete = memory.share();
    this.reader = new MessageReader(limits, listener, this);
  }

  @Override
  public void run() {
    String reason = null;
    byte[] buffer = new byte[BUFFER];
    try (stdout) {
      for (int n = stdout.read(buffer); n >= 0 && reason == null; n = stdout.read(buffer)) {
        reader.feed(buffer, n);
        account(reader.bufferedBytes());
        reason = reader.protocolViolation();
      }
    } catch (IOException e) {
      // the process has ended and closed its pipe: equivalent to the end of the stream
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (OutOfMemoryError e) {
      reason = "a message of the process does not fit into the bridge's memory";
    } finally {
      incomplete.release();
    }
    String error = reason;
    context.runOnContext(v -> ended.accept(error));
  }

  /** Accounts for an incomplete line; a large one waits for room, for a limited time. */
  private void account(int held) throws InterruptedException {
    if (held < MemoryBudget.LARGE) {
      incomplete.release();
    } else if (!awaitRoom(held)) {
      incomplete.take(held);
    }
  }

  /** Waits for room; after a wait that timed out, fails at once until there is room again. */
  private boolean awaitRoom(long bytes) throws InterruptedException {
    long deadline = System.nanoTime() + BackpressuredBody.MAX_WAIT_NANOS;
    while (!incomplete.takeIfRoom(bytes)) {
      if (waitTimedOut || System.nanoTime() - deadline > 0) {
        waitTimedOut = true;
        return false;
      }
      LockSupport.parkNanos(POLL_NANOS);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    waitTimedOut = false;
    return true;
  }

  @Override
  public void deliver(long bytes, Runnable callback, Runnable overflowCallback)
      throws InterruptedException {
    if (bytes < MemoryBudget.LARGE) {
      dispatch(bytes, callback);
    } else if (awaitRoom(bytes)) {
      dispatchLarge(bytes, callback);
    } else {
      incomplete.release();
      dispatch(0, overflowCallback);
    }
  }

  private void dispatch(long bytes, Runnable callback) throws InterruptedException {
    if (bytes > 0) {
      brake.acquire(bytes);
    }
    context.runOnContext(v -> run(bytes, callback));
  }

  /**
   * The message is complete and counts as a response, for which incomplete messages wait. Its bytes
   * are released a moment after the callback, when the bus has delivered it to a receiver that
   * counts it: timers run on the event loop, after the delivery.
   */
  private void dispatchLarge(long bytes, Runnable callback) throws InterruptedException {
    brake.acquire(bytes);
    incomplete.becomeUnread();
    try {
      context.runOnContext(v -> runLarge(bytes, callback));
    } catch (OutOfMemoryError e) {
      memory.removeUnread(bytes);
      throw e;
    }
  }

  private void runLarge(long bytes, Runnable callback) {
    try {
      run(bytes, callback);
    } finally {
      context.owner().setTimer(1, t -> memory.removeUnread(bytes));
    }
  }

  private void run(long bytes, Runnable callback) {
    try {
      callback.run();
    } finally {
      if (bytes > 0) {
        brake.release(bytes);
      }
    }
  }
}
