package dev.mcpbridge.call;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.ToolResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;

/**
 * Runs the calls of one request in their order, a limited number at the same time. Confined to the
 * event loop.
 */
public final class Batch {
  private final Terms terms;
  private final Deque<NextCall> waiting = new ArrayDeque<>();
  private BridgeException endedBecause;
  private int running;

  /**
   * How a batch runs.
   *
   * @param concurrency how many of its calls run at the same time
   * @param stopsOnError whether its other calls are skipped once one has failed, has returned an
   *     error, or is held
   */
  public record Terms(int concurrency, boolean stopsOnError) {
    public static final int MAX_CONCURRENCY = 128;
    public static final Terms USUAL = new Terms(8, false);

    /**
     * Reads what a client has asked for.
     *
     * @param concurrency as text; null for the usual, or one by one if the batch stops on errors
     * @param onError {@code continue} or {@code stop}; null for the usual
     * @throws BridgeException INVALID_ARGUMENTS
     */
    public static Terms of(String concurrency, String onError) {
      if (onError != null && !onError.equals("continue") && !onError.equals("stop")) {
        throw invalid("'onError' must be continue or stop");
      }
      boolean stops = "stop".equals(onError);
      int usual = stops ? 1 : USUAL.concurrency();
      return new Terms(concurrency == null ? usual : number(concurrency), stops);
    }

    private static int number(String text) {
      int number = text.matches("[0-9]{1,3}") ? Integer.parseInt(text) : 0;
      if (number < 1 || number > MAX_CONCURRENCY) {
        throw invalid("'concurrency' must be from 1 to " + MAX_CONCURRENCY);
      }
      return number;
    }

    private static BridgeException invalid(String detail) {
      return new BridgeException(ErrorCode.INVALID_ARGUMENTS, detail);
    }
  }

  private record NextCall(Supplier<Future<CallOutcome>> call, Promise<CallOutcome> outcome) {}

  public Batch(Terms terms) {
    this.terms = terms;
  }

  /**
   * Adds a call. It starts now if fewer are running than may.
   *
   * @return the outcome of the call; fails with SKIPPED if it is not run
   */
  public Future<CallOutcome> add(Supplier<Future<CallOutcome>> call) {
    NextCall next = new NextCall(call, Promise.promise());
    waiting.add(next);
    startNext();
    return next.outcome().future();
  }

  /** Skips the calls that have not started. */
  public void cancel() {
    end(
        new BridgeException(ErrorCode.CANCELLED, "The client disconnected")
            .withExecuted(Executed.NO));
  }

  private void startNext() {
    while (!waiting.isEmpty() && (endedBecause != null || running < terms.concurrency())) {
      NextCall next = waiting.poll();
      if (endedBecause != null) {
        next.outcome().fail(endedBecause);
      } else {
        running++;
        Future<CallOutcome> outcome = start(next.call());
        outcome.onComplete(done -> ended(next, outcome));
      }
    }
  }

  private static Future<CallOutcome> start(Supplier<Future<CallOutcome>> call) {
    try {
      return call.get();
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  private void ended(NextCall call, Future<CallOutcome> outcome) {
    running--;
    if (terms.stopsOnError() && endedBecause == null && !isSuccess(outcome)) {
      end(
          new BridgeException(ErrorCode.SKIPPED, "An earlier call of the batch has not succeeded")
              .withExecuted(Executed.NO));
    }
    outcome.onComplete(call.outcome());
    startNext();
  }

  private static boolean isSuccess(Future<CallOutcome> outcome) {
    return outcome.succeeded()
        && outcome.result() instanceof CallOutcome.Completed completed
        && !ToolResult.isError(completed.result());
  }

  private void end(BridgeException reason) {
    endedBecause = reason;
    startNext();
  }
}
