package dev.mcpbridge.api;

import dev.mcpbridge.bus.EventLoop;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/**
 * A call whose outcome a thread waits for. It is begun on the event loop: its future would complete
 * on the context of the thread, which may be blocked.
 */
final class AwaitedCall {
  private final EventLoop loop;
  private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();

  /** Null until the call has begun. Confined to the event loop. */
  private ToolCall call;

  /**
   * @throws IllegalStateException on an event loop
   */
  AwaitedCall(EventLoop loop, Supplier<ToolCall> begin) {
    Tools.requireBlockable();
    this.loop = loop;
    loop.run(() -> begin(begin));
  }

  private void begin(Supplier<ToolCall> begin) {
    try {
      call = begin.get();
      call.outcome().onComplete(outcome::complete, outcome::completeExceptionally);
    } catch (RuntimeException e) {
      outcome.completeExceptionally(e);
    }
  }

  Outcome await() throws InterruptedException {
    try {
      return outcome.get();
    } catch (ExecutionException e) {
      return Outcomes.of(e.getCause());
    }
  }

  /** Waits; an interrupt cancels the call and stays set. */
  Outcome awaitUnlessInterrupted() {
    try {
      return await();
    } catch (InterruptedException e) {
      cancel();
      Thread.currentThread().interrupt();
      return Outcomes.of(
          new BridgeException(ErrorCode.CANCELLED, "The thread of the caller was interrupted")
              .withExecuted(Executed.UNKNOWN));
    }
  }

  void cancel() {
    loop.run(
        () -> {
          if (call != null) {
            call.cancel();
          }
        });
  }
}
