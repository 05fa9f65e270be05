package dev.mcpbridge.model;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.FairQueue;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.function.Function;

/**
 * The calls of one server that wait for their turn: bounded, each until its deadline, and callers
 * one after the other. Confined to its verticle's context.
 */
public final class WaitingCalls {
  private static final long SWEEP_MILLIS = 50;

  private final ServerId server;
  private final FairQueue<Waiting> turns;
  private final Soon deadlines;

  private record Waiting(Call call, Promise<JsonSlice> promise) {}

  public WaitingCalls(Vertx vertx, ServerId server, int capacity) {
    this.deadlines = new Soon(vertx, SWEEP_MILLIS, this::refuseLate);
    this.server = server;
    this.turns = new FairQueue<>(capacity);
  }

  public int size() {
    return turns.size();
  }

  /** Waits; fails with QUEUE_FULL at once, and with DEADLINE_EXCEEDED when its time is over. */
  public Future<JsonSlice> add(Call call) {
    Waiting waiting = new Waiting(call, Promise.promise());
    FairQueue.Offer<Waiting> offer = turns.offer(call.caller().name(), waiting);
    offer.displaced().ifPresent(other -> other.promise().fail(full(other.call())));
    if (!offer.accepted()) {
      return Future.failedFuture(full(call));
    }
    deadlines.ask();
    return waiting.promise().future();
  }

  /**
   * Runs the next one; one whose time is over is refused instead.
   *
   * @return whether it was run
   */
  public boolean next(Function<Call, Future<JsonSlice>> run) {
    Waiting next = turns.poll();
    if (next.call().isLate()) {
      next.promise().fail(late());
      return false;
    }
    run.apply(next.call()).onComplete(next.promise());
    return true;
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
                + turns.count(refused.caller().name())
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
