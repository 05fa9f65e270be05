package dev.mcpbridge.api;

import dev.mcpbridge.bus.EventLoop;
import io.vertx.core.Context;
import io.vertx.core.Future;
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
  private ToolCall call;

  /**
   * @throws IllegalStateException on an event loop
   */
  AwaitedCall(EventLoop loop, Supplier<ToolCall> begin) {
    requireBlockable();
    this.loop = loop;
    loop.run(
        () -> {
          call = begin.get();
          relay(call.outcome(), outcome);
        });
  }

  Outcome await() throws InterruptedException {
    try {
      return outcome.get();
    } catch (ExecutionException e) {
      return Outcome.of(e.getCause());
    }
  }

  void cancel() {
    loop.run(() -> call.cancel());
  }

  /** Waits for a future that is made on the event loop. */
  static <T> T await(EventLoop loop, Supplier<Future<T>> begin) {
    requireBlockable();
    CompletableFuture<T> result = new CompletableFuture<>();
    loop.run(() -> relay(begin.get(), result));
    return result.join();
  }

  private static <T> void relay(Future<T> from, CompletableFuture<T> to) {
    from.onComplete(to::complete, to::completeExceptionally);
  }

  private static void requireBlockable() {
    if (Context.isOnEventLoopThread()) {
      throw new IllegalStateException("An event loop must not be blocked: use list and call");
    }
  }
}
