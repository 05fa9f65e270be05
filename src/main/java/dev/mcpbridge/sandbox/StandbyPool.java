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
 * The containers that stand ready for the calls of one server. A call takes one, it is used once
 * and destroyed, and another takes its place. How many stand ready follows the demand: one more for
 * each call that found none, one less for each quiet while. What finds none when there are as many
 * as may be waits for its turn, within a bound and its deadline.
 *
 * <p>Confined to its context.
 */
final class StandbyPool {
  private static final int STARTS_AT_A_TIME = 4;
  private static final long QUIET_MILLIS = 10_000;

  /** Making a container takes the processors that the call which has just begun could use. */
  private static final long REFILL_MILLIS = 50;

  private static final long LOOK_MILLIS = 10;
  private static final long FIRST_PAUSE_MILLIS = 500;
  private static final long MAX_PAUSE_MILLIS = 15_000;

  private final Vertx vertx;
  private final ServerId server;
  private final SandboxPool config;
  private final BooleanSupplier mayBegin;
  private final Supplier<Future<Standby>> starter;
  private final CallQueue waiting;
  private final Debouncer look;
  private final Deque<Standby> ready = new ArrayDeque<>();
  private final Map<String, Standby> running = new HashMap<>();
  private final long timer;
  private int wanted;
  private int starting;
  private int leaving;
  private int failures;
  private long pausedUntilNanos = System.nanoTime();
  private BridgeException lastFailure;
  private boolean missed;
  private boolean closed;
  private Promise<Void> empty;

  /**
   * @param waiting the queue of calls that find no container
   * @param mayBegin whether a call may be begun at this moment
   * @param starter starts one container
   */
  StandbyPool(
      Vertx vertx,
      ServerId server,
      SandboxPool config,
      CallQueue waiting,
      BooleanSupplier mayBegin,
      Supplier<Future<Standby>> starter) {
    this.vertx = vertx;
    this.server = server;
    this.config = config;
    this.mayBegin = mayBegin;
    this.starter = starter;
    this.waiting = waiting;
    this.look = new Debouncer(vertx, LOOK_MILLIS, this::look);
    this.wanted = config.min();
    this.timer = vertx.setPeriodic(QUIET_MILLIS, t -> adapt());
  }

  void open() {
    refill();
  }

  /** Runs a call, in a container of its own. */
  Future<JsonSlice> run(Call call) {
    if (closed) {
      return Future.failedFuture(stopping());
    }
    if (!mayBegin.getAsBoolean()) {
      return waitsForRight(call);
    }
    Standby standby = waiting.isFree(call) ? usable() : null;
    if (standby != null) {
      vertx.setTimer(REFILL_MILLIS, t -> refill());
      return run(call, standby);
    }
    missed = true;
    wanted = Math.min(config.max(), wanted + 1);
    if (isPaused()) {
      return Future.failedFuture(lastFailure);
    }
    Future<JsonSlice> turn = waiting.add(call);
    refill();
    return turn;
  }

  /** While nothing may be begun. */
  private Future<JsonSlice> waitsForRight(Call call) {
    Future<JsonSlice> turn = waiting.add(call);
    look.ask();
    return turn;
  }

  private void look() {
    dispatch();
    refill();
  }

  void cancel(String callId, String reason) {
    BridgeException why = new BridgeException(ErrorCode.CANCELLED, reason);
    Standby found = running.get(callId);
    if (found != null) {
      found.cancel(why);
    }
    waiting.cancel(callId, why);
  }

  /** Takes no more calls, lets those that run go on for so long, and discards everything. */
  Future<Void> close(long drainMillis) {
    closed = true;
    vertx.cancelTimer(timer);
    waiting.refuse(stopping());
    ready.forEach(this::discard);
    ready.clear();
    empty = Promise.promise();
    long end = vertx.setTimer(Math.max(1, drainMillis), t -> discardRunning());
    settle();
    return empty.future().onComplete(done -> vertx.cancelTimer(end));
  }

  private void discardRunning() {
    List.copyOf(running.values()).forEach(this::discard);
  }

  private BridgeException stopping() {
    return new BridgeException(
        ErrorCode.SERVER_UNAVAILABLE, "Server '" + server + "' is being stopped");
  }

  /** One that has ended meanwhile is none, though it has not been said yet. */
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
    waiting.count(call, answer);
    return answer.transform(
        done -> {
          vertx.runOnContext(answered -> leave(call, standby));
          return done.succeeded()
              ? ContainerOutcomes.result(server, done.result(), standby.environment())
              : ContainerOutcomes.failure(server, done.cause(), standby.end());
        });
  }

  /** After the answer is on its way: removing and making containers takes processors. */
  private void leave(Call call, Standby standby) {
    running.remove(call.id());
    discard(standby);
    refill();
  }

  private long deadline(Call call) {
    if (config.timeoutMillis() == 0) {
      return call.deadlineNanos();
    }
    long own = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.timeoutMillis());
    return own - call.deadlineNanos() < 0 ? own : call.deadlineNanos();
  }

  /** Starts as many as are wanted, and as many as wait, within the bounds. */
  private void refill() {
    while (!closed
        && !isPaused()
        && starting < STARTS_AT_A_TIME
        && ready.size() + starting < wanted + waiting.size()
        && ready.size() + starting + running.size() + leaving < config.max()) {
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
    if (!mayBegin.getAsBoolean() && waiting.size() > 0) {
      look.ask();
      return;
    }
    Standby standby = waiting.size() > 0 ? usable() : null;
    while (standby != null) {
      Standby taken = standby;
      CallQueue.TurnResult turnResult = waiting.next(call -> run(call, taken));
      if (turnResult != CallQueue.TurnResult.TAKEN) {
        ready.addFirst(standby);
      }
      standby = turnResult == CallQueue.TurnResult.NOBODYS || waiting.size() == 0 ? null : usable();
    }
  }

  private void failed(Throwable failure) {
    starting--;
    pause(failure);
    settle();
  }

  /** One that ended while it stood ready, as all do when their engine stops. */
  private void lost(Standby standby) {
    if (ready.remove(standby)) {
      pause(new BridgeException(ErrorCode.SANDBOX_FAILED, "A container ended before it was used"));
    }
  }

  private void pause(Throwable failure) {
    failures++;
    long pause = Math.min(MAX_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(10, failures - 1));
    pausedUntilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pause);
    lastFailure = ContainerOutcomes.unavailable(server, failure).withRetryAfter(pause);
    if (starting == 0 && ready.isEmpty()) {
      waiting.refuse(lastFailure);
    }
    if (!closed) {
      vertx.setTimer(pause + 1, t -> refill());
    }
  }

  private boolean isPaused() {
    return pausedUntilNanos - System.nanoTime() > 0;
  }

  private void adapt() {
    if (!missed) {
      wanted = Math.max(config.min(), wanted - 1);
    }
    missed = false;
    while (ready.size() > wanted) {
      discard(ready.poll());
    }
    refill();
  }

  private void discard(Standby standby) {
    leaving++;
    standby
        .discard()
        .onComplete(
            gone -> {
              leaving--;
              refill();
              settle();
            });
  }

  private void settle() {
    if (empty != null && starting == 0 && leaving == 0 && running.isEmpty()) {
      empty.tryComplete();
    }
  }
}
