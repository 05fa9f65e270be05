package dev.mcpbridge.model;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.FairQueue;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * The queued calls of one server: bounded, each with its deadline, fair between callers. While
 * callers can be told apart, none may use more than half of the call slots, so that another caller
 * never waits for its long calls to end. Confined to its verticle's context.
 */
public final class CallQueue {
  private static final long SWEEP_MILLIS = 50;

  private final ServerId server;
  private final FairQueue<QueuedCall> queue;
  private final Debouncer deadlines;

  private final int share;
  private final BooleanSupplier severalCallers;
  private final Map<String, Integer> running = new HashMap<>();

  private record QueuedCall(Call call, long sinceNanos, Promise<JsonSlice> promise) {}

  /** Runs a call that was queued. */
  public interface Turn {
    /**
     * @param queuedNanos when it was queued, by {@link System#nanoTime()}
     */
    Future<JsonSlice> run(Call call, long queuedNanos);
  }

  /**
   * @param capacity maximum number of queued calls
   * @param slots maximum number of running calls
   * @param severalCallers whether callers can be told apart at this moment
   */
  public CallQueue(
      Vertx vertx, ServerId server, int capacity, int slots, BooleanSupplier severalCallers) {
    this.deadlines = new Debouncer(vertx, SWEEP_MILLIS, this::failLate);
    this.server = server;
    this.queue = new FairQueue<>(capacity);
    this.share = Math.max(1, slots / 2);
    this.severalCallers = severalCallers;
  }

  /** Whether a call may run at once if a slot is free: no eligible call is queued before it. */
  public boolean mayRunNow(Call call) {
    return hasShare(call.caller().share()) && !queue.isWaiting(this::hasShare);
  }

  private boolean hasShare(String caller) {
    return !severalCallers.getAsBoolean() || running.getOrDefault(caller, 0) < share;
  }

  /** Counts a running call until it has ended. */
  public void count(Call call, Future<?> ended) {
    if (severalCallers.getAsBoolean()) {
      String caller = call.caller().share();
      running.merge(caller, 1, Integer::sum);
      ended.onComplete(
          done -> running.computeIfPresent(caller, (c, count) -> count == 1 ? null : count - 1));
    }
  }

  public int size() {
    return queue.size();
  }

  /** Queues a call. Fails at once with QUEUE_FULL, or with DEADLINE_EXCEEDED at its deadline. */
  public Future<JsonSlice> add(Call call) {
    QueuedCall queuedCall = new QueuedCall(call, System.nanoTime(), Promise.promise());
    queue
        .offer(call.caller().share(), queuedCall)
        .ifPresent(refused -> refused.promise().fail(full(refused.call())));
    deadlines.schedule();
    return queuedCall.promise().future();
  }

  /** The result of {@link #next}. */
  public enum TurnResult {
    /** A call was started. */
    STARTED,
    /** The deadline of the next call had passed; it was failed. */
    EXPIRED,
    /** No queued call may run: each caller with a queued call has used its share of the slots. */
    NONE_ELIGIBLE
  }

  /** Starts the next call of a caller with a free share of the slots. */
  public TurnResult next(Turn turn) {
    QueuedCall next = queue.poll(this::hasShare);
    if (next == null) {
      return TurnResult.NONE_ELIGIBLE;
    }
    if (next.call().isExpired()) {
      next.promise().fail(late());
      return TurnResult.EXPIRED;
    }
    turn.run(next.call(), next.sinceNanos()).onComplete(next.promise());
    return TurnResult.STARTED;
  }

  /** Fails all queued calls. */
  public void failAll(BridgeException reason) {
    queue.removeIf(queuedCall -> true).forEach(queuedCall -> queuedCall.promise().fail(reason));
  }

  public void cancel(String callId, BridgeException reason) {
    queue
        .removeIf(queuedCall -> queuedCall.call().id().equals(callId))
        .forEach(queuedCall -> queuedCall.promise().fail(reason));
  }

  private void failLate() {
    queue
        .removeIf(queuedCall -> queuedCall.call().isExpired())
        .forEach(queuedCall -> queuedCall.promise().fail(late()));
    if (queue.size() > 0) {
      deadlines.schedule();
    }
  }

  private BridgeException full(Call refused) {
    return new BridgeException(
            ErrorCode.QUEUE_FULL,
            "Server '"
                + server
                + "' has "
                + queue.size()
                + " calls waiting (maxQueued), "
                + queue.count(refused.caller().share())
                + " of them from this caller")
        .withRetryAfter(1000);
  }

  private BridgeException late() {
    return new BridgeException(
            ErrorCode.DEADLINE_EXCEEDED,
            "The call was still queued for server '" + server + "' at its deadline")
        .withRetryAfter(1000);
  }
}
