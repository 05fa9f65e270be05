package dev.mcpbridge.cache;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Urgency;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * One call of a server for all who ask for the same at the same time. Each waits until its own
 * deadline and may leave; the call is cancelled when the last one has left. Confined to its
 * context.
 */
final class SharedCall {
  private final Context context;
  private final String id;
  private final Map<String, Waiter> waiters = new LinkedHashMap<>();
  private final CancellationToken cancellation = new CancellationToken();
  private int urgency;
  private boolean isRepeated;

  private record Waiter(Call call, Promise<JsonSlice> result, long timer) {}

  /**
   * @param id of the call of the server
   */
  SharedCall(Context context, String id) {
    this.context = context;
    this.id = id;
  }

  /** Waits for the result, which is that of the server. */
  Future<JsonSlice> join(Call call) {
    Promise<JsonSlice> result = Promise.promise();
    long millis = TimeUnit.NANOSECONDS.toMillis(call.deadlineNanos() - System.nanoTime());
    long timer = context.owner().setTimer(Math.max(1, millis), t -> leave(call.id(), late(call)));
    waiters.put(call.id(), new Waiter(call, result, timer));
    call.cancellation().onCancel(reason -> context.runOnContext(v -> leave(call.id(), reason)));
    return result.future();
  }

  /** Whether it does not wait longer for its turn than a call would alone. */
  boolean isAsUrgentAs(Call call) {
    return urgency <= Urgency.orUsual(call.envelope().urgency());
  }

  /**
   * Calls the server, as a client who can answer no questions of it.
   *
   * @param timeoutMillis the longest time that a caller may wait
   */
  Future<JsonSlice> run(Function<Call, Future<JsonSlice>> calls, long timeoutMillis) {
    Call first = waiters.values().iterator().next().call();
    urgency = Urgency.orUsual(first.envelope().urgency());
    Call own =
        first
            .withId(id)
            .withEnvelope(first.envelope().withoutCapabilities())
            .withCancellation(cancellation)
            .withStreaming(true)
            .withTimeout(timeoutMillis);
    return calls.apply(own).recover(failure -> repeated(calls, timeoutMillis, first, failure));
  }

  /**
   * A call that was surely not executed fails for one only; it is tried once more for the others.
   */
  private Future<JsonSlice> repeated(
      Function<Call, Future<JsonSlice>> calls, long timeoutMillis, Call first, Throwable failure) {
    if (isRepeated || BridgeException.of(failure).executed() != Executed.NO) {
      return Future.failedFuture(failure);
    }
    isRepeated = true;
    leave(first.id(), BridgeException.of(failure));
    return waiters.isEmpty() ? Future.failedFuture(failure) : run(calls, timeoutMillis);
  }

  private void leave(String callId, BridgeException reason) {
    Waiter left = waiters.remove(callId);
    if (left != null) {
      context.owner().cancelTimer(left.timer());
      left.result().tryFail(reason);
      if (waiters.isEmpty()) {
        cancellation.cancel(reason.getMessage());
      }
    }
  }

  private static BridgeException late(Call call) {
    return new BridgeException(
            ErrorCode.DEADLINE_EXCEEDED,
            "Request to " + call.server() + " timed out while it shared the call of another")
        .withExecuted(Executed.UNKNOWN);
  }

  /** The number of callers who wait; 0 if all have left. */
  int waiting() {
    return waiters.size();
  }

  /** The calls that want to know of the progress. */
  List<Call> streaming() {
    return waiters.values().stream().map(Waiter::call).filter(Call::streaming).toList();
  }

  /** Ends the call for all. */
  void end(Function<Call, JsonSlice> results) {
    waiters.values().forEach(waiter -> end(waiter).tryComplete(results.apply(waiter.call())));
    waiters.clear();
  }

  /** Ends the call for the first caller only; each of the others makes its own. */
  void endAlone(JsonSlice result, Function<Call, Future<JsonSlice>> calls) {
    waiters
        .values()
        .forEach(
            waiter -> {
              Promise<JsonSlice> promise = end(waiter);
              if (waiter.call().id().equals(id)) {
                promise.tryComplete(result);
              } else {
                calls.apply(waiter.call()).onComplete(promise::tryComplete, promise::tryFail);
              }
            });
    waiters.clear();
  }

  void fail(Throwable failure) {
    waiters.values().forEach(waiter -> end(waiter).tryFail(failure));
    waiters.clear();
  }

  private Promise<JsonSlice> end(Waiter waiter) {
    context.owner().cancelTimer(waiter.timer());
    return waiter.result();
  }
}
