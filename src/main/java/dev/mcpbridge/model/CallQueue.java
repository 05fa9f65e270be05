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
import java.util.function.Function;

/**
 * The calls of one server that wait for their turn: bounded, each until its deadline, and callers
 * one after the other. Where callers can be told apart, none has more than half of the places in
 * which calls run, so that another one never has to wait for its long calls to end. Confined to its
 * verticle's context.
 */
public final class CallQueue {
  private static final long SWEEP_MILLIS = 50;

  private final ServerId server;
  private final FairQueue<QueuedCall> turns;
  private final Debouncer deadlines;

  private final int share;
  private final BooleanSupplier severalCallers;
  private final Map<String, Integer> running = new HashMap<>();

  private record QueuedCall(Call call, Promise<JsonSlice> promise) {}

  /**
   * @param capacity how many may wait
   * @param places how many may run at a time
   * @param severalCallers whether callers can be told apart, at this moment
   */
  public CallQueue(
      Vertx vertx, ServerId server, int capacity, int places, BooleanSupplier severalCallers) {
    this.deadlines = new Debouncer(vertx, SWEEP_MILLIS, this::refuseLate);
    this.server = server;
    this.turns = new FairQueue<>(capacity);
    this.share = Math.max(1, places / 2);
    this.severalCallers = severalCallers;
  }

  /** Whether a call may run at once, where there is a place: it is nobody else's turn. */
  public boolean isFree(Call call) {
    return hasShare(call.caller().share()) && !turns.isWaiting(this::hasShare);
  }

  private boolean hasShare(String caller) {
    return !severalCallers.getAsBoolean() || running.getOrDefault(caller, 0) < share;
  }

  /** Counts a call until it has ended. */
  public void count(Call call, Future<?> ended) {
    if (severalCallers.getAsBoolean()) {
      String caller = call.caller().share();
      running.merge(caller, 1, Integer::sum);
      ended.onComplete(
          over -> running.computeIfPresent(caller, (c, count) -> count == 1 ? null : count - 1));
    }
  }

  public int size() {
    return turns.size();
  }

  /** Waits; fails with QUEUE_FULL at once, and with DEADLINE_EXCEEDED when its time is over. */
  public Future<JsonSlice> add(Call call) {
    QueuedCall queuedCall = new QueuedCall(call, Promise.promise());
    FairQueue.OfferResult<QueuedCall> offerResult = turns.offer(call.caller().share(), queuedCall);
    offerResult.displaced().ifPresent(other -> other.promise().fail(full(other.call())));
    if (!offerResult.accepted()) {
      return Future.failedFuture(full(call));
    }
    deadlines.ask();
    return queuedCall.promise().future();
  }

  /** What became of a turn. */
  public enum TurnResult {
    /** A call runs. */
    TAKEN,
    /** The time of the next one was over; it was refused. */
    LATE,
    /** Nobody waits who has not as many calls running as may be. */
    NOBODYS
  }

  /** Runs the next one of a caller that may have one more. */
  public TurnResult next(Function<Call, Future<JsonSlice>> run) {
    QueuedCall next = turns.poll(this::hasShare);
    if (next == null) {
      return TurnResult.NOBODYS;
    }
    if (next.call().isLate()) {
      next.promise().fail(late());
      return TurnResult.LATE;
    }
    run.apply(next.call()).onComplete(next.promise());
    return TurnResult.TAKEN;
  }

  /** Refuses all of them. */
  public void refuse(BridgeException why) {
    turns.removeIf(queuedCall -> true).forEach(queuedCall -> queuedCall.promise().fail(why));
  }

  public void cancel(String callId, BridgeException why) {
    turns
        .removeIf(queuedCall -> queuedCall.call().id().equals(callId))
        .forEach(queuedCall -> queuedCall.promise().fail(why));
  }

  private void refuseLate() {
    turns.removeIf(queuedCall -> queuedCall.call().isLate()).forEach(w -> w.promise().fail(late()));
    if (turns.size() > 0) {
      deadlines.ask();
    }
  }

  private BridgeException full(Call refused) {
    return new BridgeException(
            ErrorCode.QUEUE_FULL,
            "Server '"
                + server
                + "' has "
                + turns.size()
                + " calls waiting (maxQueued), "
                + turns.count(refused.caller().share())
                + " of them of this caller")
        .withRetryAfter(1000);
  }

  private BridgeException late() {
    return new BridgeException(
            ErrorCode.DEADLINE_EXCEEDED,
            "The call waited for its turn at server '" + server + "' until its deadline")
        .withRetryAfter(1000);
  }
}
