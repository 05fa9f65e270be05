package dev.mcpbridge.model;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.FairQueue;
import dev.mcpbridge.limit.Flow;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Urgency;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;

/**
 * The queued calls of one server: bounded, each with its deadline, fair between callers and
 * urgencies by the time that calls take. While callers can be told apart, none may use more than
 * half of the call slots, so that another caller never waits for its long calls to end. While
 * callers may be urgent, some slots are kept for them. Confined to its verticle's context.
 */
public final class CallQueue {
  private static final long SWEEP_MILLIS = 50;
  private static final long MIN_RETRY_MILLIS = 1_000;
  private static final long MAX_RETRY_MILLIS = 60_000;

  private final ServerId server;
  private final FairQueue<QueuedCall> queue;
  private final Debouncer deadlines;
  private final Sharing sharing;
  private final ServiceTimes serviceTimes = new ServiceTimes();
  private final int slots;
  private final Map<String, Integer> running = new HashMap<>();
  private int ordinary;

  private record QueuedCall(Call call, long sinceNanos, Promise<JsonSlice> promise) {}

  /** Runs a call that was queued. */
  public interface Turn {
    /**
     * @param queuedNanos when it was queued, by {@link System#nanoTime()}
     */
    Future<JsonSlice> run(Call call, long queuedNanos);
  }

  /**
   * Between whom the slots are shared, which may change at any time.
   *
   * @param severalCallers whether callers can be told apart
   * @param urgentCallers whether a caller may have urgent calls
   */
  public record Sharing(BooleanSupplier severalCallers, BooleanSupplier urgentCallers) {}

  /**
   * @param capacity maximum number of queued calls
   * @param slots maximum number of running calls
   */
  public CallQueue(Vertx vertx, ServerId server, int capacity, int slots, Sharing sharing) {
    this.deadlines = new Debouncer(vertx, SWEEP_MILLIS, this::failLate);
    this.server = server;
    this.queue = new FairQueue<>(capacity);
    this.slots = slots;
    this.sharing = sharing;
  }

  /** Whether a call may run at once if a slot is free: no eligible call is queued before it. */
  public boolean mayRunNow(Call call) {
    return isEligible(flow(call)) && !queue.isWaiting(this::isEligible);
  }

  private static Flow flow(Call call) {
    return new Flow(call.caller().share(), Urgency.orUsual(call.envelope().urgency()));
  }

  private boolean isEligible(Flow flow) {
    boolean isUrgent = flow.isUrgent();
    int kept = sharing.urgentCallers().getAsBoolean() ? keptSlots() : 0;
    return hasShare(flow.caller(), isUrgent ? kept : 0)
        && (isUrgent || kept == 0 || ordinary < slots - kept);
  }

  /** The slots for urgent calls: an eighth, unless there are too few. */
  private int keptSlots() {
    return slots <= 2 ? 0 : Math.max(1, slots / 8);
  }

  /**
   * @param more than half of the slots, for urgent calls of a caller whose other calls use its half
   */
  private boolean hasShare(String caller, int more) {
    return !sharing.severalCallers().getAsBoolean()
        || running.getOrDefault(caller, 0) < Math.max(1, slots / 2) + more;
  }

  /** Counts a running call until it has ended. */
  public void count(Call call, Future<?> ended) {
    if (sharing.severalCallers().getAsBoolean() || sharing.urgentCallers().getAsBoolean()) {
      String caller = call.caller().share();
      int slotsOfOrdinary = flow(call).isUrgent() ? 0 : 1;
      ordinary += slotsOfOrdinary;
      running.merge(caller, 1, Integer::sum);
      ended.onComplete(
          done -> {
            ordinary -= slotsOfOrdinary;
            running.computeIfPresent(caller, (c, count) -> count == 1 ? null : count - 1);
          });
    }
  }

  public int size() {
    return queue.size();
  }

  /** Queues a call. Fails at once with QUEUE_FULL, or with DEADLINE_EXCEEDED at its deadline. */
  public Future<JsonSlice> add(Call call) {
    QueuedCall queuedCall = new QueuedCall(call, System.nanoTime(), Promise.promise());
    queue
        .offer(flow(call), serviceTimes.of(call.target()), queuedCall)
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
    /** No queued call may run: the free slots are for other callers, or for urgent calls. */
    NONE_ELIGIBLE
  }

  /** Starts the next call that may have a slot. */
  public TurnResult next(Turn turn) {
    QueuedCall next = queue.poll(this::isEligible);
    if (next == null) {
      return TurnResult.NONE_ELIGIBLE;
    }
    if (next.call().isExpired()) {
      next.promise().fail(late());
      return TurnResult.EXPIRED;
    }
    long startNanos = System.nanoTime();
    turn.run(next.call(), next.sinceNanos())
        .onSuccess(done -> serviceTimes.add(next.call().target(), System.nanoTime() - startNanos))
        .onComplete(next.promise());
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
        .withRetryAfter(retryMillis());
  }

  /** How long the queued calls take, with jitter, so that callers do not come back together. */
  private long retryMillis() {
    double millis = queue.size() * serviceTimes.ofAll() / slots;
    double jittered = millis * (0.8 + 0.4 * ThreadLocalRandom.current().nextDouble());
    return Math.min(MAX_RETRY_MILLIS, Math.max(MIN_RETRY_MILLIS, (long) jittered));
  }

  private BridgeException late() {
    return new BridgeException(
            ErrorCode.DEADLINE_EXCEEDED,
            "The call was still queued for server '" + server + "' at its deadline")
        .withRetryAfter(retryMillis());
  }
}
