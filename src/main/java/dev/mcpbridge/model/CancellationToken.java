package dev.mcpbridge.model;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.function.Consumer;

/**
 * Cancels one call, wherever it is. A call is in one place at a time: it waits for its server to
 * start, is queued, runs, or is at another node. The place that has it sets the handler, which
 * replaces the one of the place before. Thread-safe.
 */
public final class CancellationToken {
  private Consumer<BridgeException> handler;
  private BridgeException cancellation;

  /**
   * Cancels the call; only the first cancellation counts. The handler is called on this thread.
   *
   * @param reason for the client and for the server
   */
  public void cancel(String reason) {
    Consumer<BridgeException> notified;
    synchronized (this) {
      if (cancellation != null) {
        return;
      }
      cancellation = new BridgeException(ErrorCode.CANCELLED, reason);
      notified = handler;
    }
    if (notified != null) {
      notified.accept(cancellation);
    }
  }

  /**
   * Sets the handler that is called once with the failure of a cancelled call; at once if the call
   * is cancelled already.
   */
  public void onCancel(Consumer<BridgeException> newHandler) {
    BridgeException already;
    synchronized (this) {
      handler = newHandler;
      already = cancellation;
    }
    if (already != null) {
      newHandler.accept(already);
    }
  }

  public synchronized boolean isCancelled() {
    return cancellation != null;
  }

  /**
   * @throws BridgeException CANCELLED if the call is cancelled
   */
  public synchronized void check() {
    if (cancellation != null) {
      throw cancellation;
    }
  }
}
