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
public final class WaitingCalls {
  private static final long SWEEP_MILLIS = 50;

  private final ServerId server;
  private final FairQueue<Waiting> turns;
  private final Soon deadlines;

  private final int share;
  private final BooleanSupplier severalCallers;
  private final Map<String, Integer> running = new HashMap<>();

  private record Waiting(Call call, Promise<JsonSlice> promise) {}

  /**
   * @param capacity how many may wait
   * @param places how many may run at a time
   * @param severalCallers whether callers can be told apart, at this moment
   */
  public WaitingCalls(
      Vertx vertx, ServerId server, int capacity, int places, BooleanSupplier severalCallers) {
    this.deadlines = new Soon(vertx, SWEEP_MILLIS, this::refuseLate);
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
    Waiting waiting = new Waiting(call, Promise.promise());
    FairQueue.Offer<Waiting> offer = turns.offer(call.caller().share(), waiting);
    offer.displaced().ifPresent(other -> other.promise().fail(full(other.call())));
    if (!offer.accepted()) {
      return Future.failedFuture(full(call));
    }
    deadlines.ask();
    return waiting.promise().future();
  }

  /** What became of a turn. */
  public enum Turn {
    /** A call runs. */
    TAKEN,
    /** The time of the next one was over; it was refused. */
    LATE,
    /** Nobody waits who has not as many calls running as may be. */
    NOBODYS
  }

  /** Runs the next one of a caller that may have one more. */
  public Turn next(Function<Call, Future<JsonSlice>> run) {
    Waiting next = turns.poll(this::hasShare);
    if (next == null) {
      return Turn.NOBODYS;
    }
    if (next.call().isLate()) {
      next.promise().fail(late());
      return Turn.LATE;
    }
    run.apply(next.call()).onComplete(next.promise());
    return Turn.TAKEN;
  }

  /** Refuses all of them. */
  public void refuse(BridgeException why) {
    turns.removeIf(waiting -> true).forEach(waiting -> waiting.promise().fail(why));
  }

  public void cancel(String callId, BridgeException why) {
    turns
        .removeIf(waiting -> waiting.call().id().equals(callId))
        .forEach(waiting -> waiting.promise().fail(why));
  }

  private void refuseLate() {
    turns.removeIf(waiting -> waiting.call().isLate()).forEach(w -> w.promise().fail(late()));
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
