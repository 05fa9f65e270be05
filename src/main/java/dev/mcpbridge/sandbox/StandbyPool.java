package dev.mcpbridge.sandbox;

import dev.mcpbridge.config.SandboxPool;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallQueue;
import dev.mcpbridge.model.Debouncer;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.trace.CallSpans;
import dev.mcpbridge.trace.Telemetry;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Pool of started containers for the calls of one server. A call takes a container, which is used
 * once, destroyed and replaced. The number of ready containers follows the demand: one more for
 * each call that found none, one less for each quiet period. When the maximum is reached, calls
 * wait in a bounded queue until their deadline.
 *
 * <p>Confined to its context.
 */
final class StandbyPool {
  private static final int STARTS_AT_A_TIME = 4;
  private static final long SHRINK_MILLIS = 10_000;

  /** Delay before a replacement is started, since starting competes with the call for CPU time. */
  private static final long REFILL_MILLIS = 50;

  private static final long RETRY_MILLIS = 10;
  private static final long MIN_BACKOFF_MILLIS = 500;
  private static final long MAX_BACKOFF_MILLIS = 15_000;

  private final Context context;
  private final Vertx vertx;
  private final ServerId server;
  private final SandboxPool config;
  private final BooleanSupplier mayBegin;
  private final Supplier<Future<Standby>> starter;
  private final CallQueue queue;
  private final Telemetry telemetry;
  private final Debouncer retry;
  private final Deque<Standby> ready = new ArrayDeque<>();
  private final Map<String, Standby> running = new HashMap<>();
  private final long timer;
  private int targetSize;
  private int starting;
  private int removing;
  private int failures;
  private long backoffUntilNanos = System.nanoTime();
  private BridgeException lastFailure;
  private boolean hadShortage;
  private boolean closed;
  private Promise<Void> drained;

  /**
   * @param queue calls that wait for a container
   * @param mayBegin whether a call may be started at this moment
   * @param starter starts one container
   */
  StandbyPool(
      Context context,
      ServerId server,
      SandboxPool config,
      CallQueue queue,
      BooleanSupplier mayBegin,
      Supplier<Future<Standby>> starter,
      Telemetry telemetry) {
    this.telemetry = telemetry;
    this.context = context;
    this.vertx = context.owner();
    this.server = server;
    this.config = config;
    this.mayBegin = mayBegin;
    this.starter = starter;
    this.queue = queue;
    this.retry = new Debouncer(vertx, RETRY_MILLIS, this::retry);
    this.targetSize = config.min();
    this.timer = vertx.setPeriodic(SHRINK_MILLIS, t -> adapt());
  }

  /** Runs a call in its own container. */
  Future<JsonSlice> run(Call call) {
    if (closed) {
      return Future.failedFuture(stopping());
    }
    call.cancellation().onCancel(reason -> context.runOnContext(v -> cancel(call.id(), reason)));
    if (!mayBegin.getAsBoolean()) {
      retry.schedule();
      return queue.add(call);
    }
    Standby standby = queue.mayRunNow(call) ? usable() : null;
    if (standby != null) {
      vertx.setTimer(REFILL_MILLIS, t -> refill());
      return run(call, standby);
    }
    hadShortage = true;
    targetSize = Math.min(config.max(), targetSize + 1);
    if (isBackingOff() && ready.isEmpty()) {
      return Future.failedFuture(lastFailure);
    }
    Future<JsonSlice> result = queue.add(call);
    refill();
    return result;
  }

  private void retry() {
    dispatch();
    refill();
  }

  private void cancel(String callId, BridgeException reason) {
    Standby found = running.get(callId);
    if (found != null) {
      found.cancel(reason);
    }
    queue.cancel(callId, reason);
  }

  /** Rejects further calls, waits for running ones, and discards all containers. */
  Future<Void> close(long drainMillis) {
    closed = true;
    vertx.cancelTimer(timer);
    queue.failAll(stopping());
    ready.forEach(this::discard);
    ready.clear();
    drained = Promise.promise();
    long end = vertx.setTimer(Math.max(1, drainMillis), t -> discardRunning());
    settle();
    return drained.future().onComplete(done -> vertx.cancelTimer(end));
  }

  private void discardRunning() {
    List.copyOf(running.values()).forEach(this::discard);
  }

  private BridgeException stopping() {
    return new BridgeException(
        ErrorCode.SERVER_UNAVAILABLE, "Server '" + server + "' is being stopped");
  }

  /** The next ready container, or null; containers that are ending are discarded. */
  private Standby usable() {
    Standby next = ready.poll();
    while (next != null && next.isEnding()) {
      discard(next);
      next = ready.poll();
    }
    return next;
  }

  private Future<JsonSlice> run(Call call, Standby standby) {
    running.put(call.id(), standby);
    Future<RpcMessage> answer = standby.run(call, deadline(call));
    queue.count(call, answer);
    return answer.transform(
        done -> {
          vertx.runOnContext(answered -> release(call, standby));
          return done.succeeded()
              ? ContainerOutcomes.result(server, done.result(), standby.environment())
              : ContainerOutcomes.failure(server, done.cause(), standby.end());
        });
  }

  /** Called after the result is sent: removing and starting containers takes CPU time. */
  private void release(Call call, Standby standby) {
    running.remove(call.id());
    discard(standby);
    dispatch();
    refill();
  }

  private long deadline(Call call) {
    if (config.timeoutMillis() == 0) {
      return call.deadlineNanos();
    }
    long own = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.timeoutMillis());
    return own - call.deadlineNanos() < 0 ? own : call.deadlineNanos();
  }

  /** Starts containers up to the target size plus the queued calls, within the bounds. */
  void refill() {
    while (!closed
        && !isBackingOff()
        && starting < STARTS_AT_A_TIME
        && ready.size() + starting < targetSize + queue.size()
        && ready.size() + starting + running.size() + removing < config.max()) {
      starting++;
      starter.get().onComplete(this::started, this::failed);
    }
  }

  private void started(Standby standby) {
    starting--;
    failures = 0;
    if (closed) {
      discard(standby);
      return;
    }
    standby.onLost(() -> lost(standby));
    ready.add(standby);
    dispatch();
    refill();
  }

  private void dispatch() {
    if (!mayBegin.getAsBoolean() && queue.size() > 0) {
      retry.schedule();
      return;
    }
    Standby standby = queue.size() > 0 ? usable() : null;
    while (standby != null) {
      Standby available = standby;
      CallQueue.TurnResult turnResult =
          queue.next(
              (call, since) -> {
                CallSpans.queued(telemetry, call, since);
                return run(call, available);
              });
      if (turnResult != CallQueue.TurnResult.STARTED) {
        ready.addFirst(standby);
      }
      standby =
          turnResult == CallQueue.TurnResult.NONE_ELIGIBLE || queue.size() == 0 ? null : usable();
    }
  }

  private void failed(Throwable failure) {
    starting--;
    backOff(failure);
    settle();
  }

  /** A ready container has ended; all of them do when the engine stops. */
  private void lost(Standby standby) {
    if (ready.remove(standby)) {
      backOff(
          new BridgeException(ErrorCode.SANDBOX_FAILED, "A container ended before it was used"));
    }
  }

  private void backOff(Throwable failure) {
    failures++;
    long backOff = Math.min(MAX_BACKOFF_MILLIS, MIN_BACKOFF_MILLIS << Math.min(10, failures - 1));
    backoffUntilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(backOff);
    lastFailure = ContainerOutcomes.unavailable(server, failure).withRetryAfter(backOff);
    if (starting == 0 && ready.isEmpty()) {
      queue.failAll(lastFailure);
    }
    if (!closed) {
      vertx.setTimer(backOff + 1, t -> refill());
    }
  }

  private boolean isBackingOff() {
    return backoffUntilNanos - System.nanoTime() > 0;
  }

  private void adapt() {
    if (!hadShortage) {
      targetSize = Math.max(config.min(), targetSize - 1);
    }
    hadShortage = false;
    while (ready.size() > targetSize) {
      discard(ready.poll());
    }
    refill();
  }

  private void discard(Standby standby) {
    removing++;
    standby
        .discard()
        .onComplete(
            gone -> {
              removing--;
              refill();
              settle();
            });
  }

  private void settle() {
    if (drained != null && starting == 0 && removing == 0 && running.isEmpty()) {
      drained.tryComplete();
    }
  }
}
