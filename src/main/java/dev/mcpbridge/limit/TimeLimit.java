package dev.mcpbridge.limit;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/**
 * Limits the time that a caller waits for a future. Unlike {@link Future#timeout}, it always ends
 * the wait on the caller's context: futures of the bus have no context, and would end on a thread
 * of Netty, where no response can be written.
 */
public final class TimeLimit {
  private TimeLimit() {}

  /**
   * Fails with a {@link TimeoutException} if the future does not complete in time. Called on a
   * context.
   */
  public static <T> Future<T> of(long millis, Future<T> awaited) {
    if (awaited.isComplete()) {
      return awaited;
    }
    Vertx vertx = Vertx.currentContext().owner();
    Promise<T> limited = Promise.promise();
    long timer =
        vertx.setTimer(
            Math.max(1, millis),
            t -> limited.tryFail(new TimeoutException("no result within " + millis + " ms")));
    awaited
        .onComplete(over -> vertx.cancelTimer(timer))
        .onComplete(limited::tryComplete, limited::tryFail);
    return limited.future();
  }

  /**
   * Limits a step that comes before a call is sent. Called on a context.
   *
   * @param deadlineNanos of the call, by {@link System#nanoTime()}
   * @return fails with DEADLINE_EXCEEDED, as not executed, if the step is not complete by then
   */
  public static <T> Future<T> beforeCall(long deadlineNanos, Future<T> step) {
    return step.isComplete()
        ? step
        : beforeCall(Duration.ofNanos(deadlineNanos - System.nanoTime()), step);
  }

  /** The same for a deadline that is some time ahead. */
  public static <T> Future<T> beforeCall(Duration left, Future<T> step) {
    return of(left.toMillis(), step)
        .recover(
            failure ->
                Future.failedFuture(
                    failure instanceof TimeoutException
                        ? new BridgeException(
                                ErrorCode.DEADLINE_EXCEEDED,
                                "The deadline passed before the call could start")
                            .withExecuted(Executed.NO)
                        : failure));
  }
}
