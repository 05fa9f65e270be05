package dev.mcpbridge.call;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Arguments;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Background calls, whose callers fetch the outcome later. An outcome is stored for ten minutes
 * after the end of its call; the number of calls and the stored bytes are bounded. A call is
 * visible only to the caller that made it.
 */
public final class BackgroundCalls {
  private static final long RETENTION_MILLIS = 600_000;

  /** A cancellation is repeated, since messages between nodes may be lost. */
  private static final long REPEAT_MILLIS = 5_000;

  private static final String CANCELLED = "The caller has cancelled the call";
  private static final Shares.Limit CALLS =
      new Shares.Limit("background calls", "", 10_000, 10_000);
  private static final Shares.Limit BYTES =
      new Shares.Limit("bytes for results of background calls", "", 64 << 20, 10_000);

  private final Vertx vertx;
  private final Bus bus;
  private final CallPipeline pipeline;
  private final Clock clock;
  private final CallRecords records;
  private final Map<String, BackgroundCall> calls = new LinkedHashMap<>();

  /** Cancelled calls of other nodes, until they end. */
  private final Map<BackgroundCall, Promise<BackgroundCall>> cancelledElsewhere = new HashMap<>();

  private final Shares shares;
  private final Shares bytes;

  /** A background call, running or ended. */
  public static final class BackgroundCall {
    private final CallRequest request;
    private final long sinceMillis;
    private Future<CallOutcome> outcome;
    private long endedMillis;
    private int size;

    private BackgroundCall(CallRequest request, long sinceMillis) {
      this.request = request;
      this.sinceMillis = sinceMillis;
    }

    public String id() {
      return request.id();
    }

    public ServerId server() {
      return request.server();
    }

    private String share() {
      return request.caller().share();
    }

    public CallRequest request() {
      return request;
    }

    public long sinceMillis() {
      return sinceMillis;
    }

    public Future<CallOutcome> outcome() {
      return outcome;
    }
  }

  public BackgroundCalls(
      Vertx vertx,
      Bus bus,
      CallPipeline pipeline,
      Clock clock,
      Cluster cluster,
      BooleanSupplier severalCallers) {
    this.shares = new Shares(CALLS, severalCallers);
    this.bytes = new Shares(BYTES, severalCallers);
    this.vertx = vertx;
    this.bus = bus;
    this.pipeline = pipeline;
    this.clock = clock;
    this.records =
        cluster.isAlone() ? null : new CallRecords(cluster, bus, "calls", Eviction.OLDEST_FIRST);
  }

  /** Subscribes to cancellations that callers send to other nodes. */
  public void open() {
    bus.subscribe(Addresses.BACKGROUND_CALL_CANCELLED, this::cancelOwn);
    if (records != null) {
      records.open(id -> calls.containsKey(id) ? calls.get(id).outcome : null);
      records.onChange(this::settleEnded);
    }
  }

  /** Starts a background call. Fails with OVERLOADED, before it runs, if a limit is reached. */
  public Future<BackgroundCall> add(CallRequest request, Supplier<Future<CallOutcome>> run) {
    removeExpired();
    try {
      bytes.check(request.caller().share());
      shares.check(request.caller().share());
    } catch (BridgeException full) {
      return Future.failedFuture(full);
    }
    if (records == null) {
      return Future.succeededFuture(begin(request, clock.millis(), run));
    }
    long since = clock.millis();
    return records
        .claim(request.id(), request.caller().name(), request.server(), request.target(), since)
        .map(
            claim -> {
              BackgroundCall call = begin(request, since, run);
              call.outcome.onComplete(
                  done -> records.settle(request.id(), claim, call.outcome, RETENTION_MILLIS));
              return call;
            });
  }

  private BackgroundCall begin(
      CallRequest request, long sinceMillis, Supplier<Future<CallOutcome>> run) {
    BackgroundCall call = new BackgroundCall(request, sinceMillis);
    call.outcome = run.get();
    calls.put(call.id(), call);
    shares.add(request.caller().share(), 1);
    call.outcome.onComplete(done -> ended(call));
    return call;
  }

  /** Fails with CALL_NOT_FOUND, also for a call of another caller. */
  public Future<BackgroundCall> find(String id, String caller) {
    removeExpired();
    BackgroundCall call = calls.get(id);
    if (call != null) {
      return call.request.caller().name().equals(caller)
          ? Future.succeededFuture(call)
          : Future.failedFuture(notFound(id));
    }
    if (records == null) {
      return Future.failedFuture(notFound(id));
    }
    return records
        .find(id)
        .map(
            stored ->
                stored
                    .filter(record -> record.owner().equals(caller))
                    .map(record -> remote(id, caller, record))
                    .orElseThrow(() -> notFound(id)));
  }

  /** A call that another node runs or ran. */
  private static BackgroundCall remote(String id, String caller, CallRecord record) {
    CallRequest request =
        new CallRequest(
            id, record.server(), record.target(), Arguments.NONE, Caller.named(caller), false);
    BackgroundCall call = new BackgroundCall(request, record.sinceMillis());
    call.outcome =
        record.outcome() == null ? Promise.<CallOutcome>promise().future() : record.outcome();
    return call;
  }

  /** Cancels a call. Completes when it has ended. */
  public Future<BackgroundCall> cancel(BackgroundCall call) {
    if (call.outcome.isComplete()) {
      return Future.succeededFuture(call);
    }
    if (calls.get(call.id()) == call) {
      pipeline.cancel(call.id(), CANCELLED);
      return call.outcome.transform(done -> Future.succeededFuture(call));
    }
    Promise<BackgroundCall> ended = Promise.promise();
    cancelledElsewhere.put(call, ended);
    cancelUntilEnded(call);
    return ended.future().onComplete(over -> cancelledElsewhere.remove(call));
  }

  /** Only the node that runs a call can cancel it. */
  private void cancelUntilEnded(BackgroundCall call) {
    Promise<BackgroundCall> ended = cancelledElsewhere.get(call);
    if (ended != null) {
      bus.publish(Addresses.BACKGROUND_CALL_CANCELLED, call.id());
      vertx.setTimer(REPEAT_MILLIS, t -> cancelUntilEnded(call));
      find(call.id(), call.request.caller().name())
          .onFailure(ended::tryFail)
          .onSuccess(current -> settleIfEnded(current, ended));
    }
  }

  private static void settleIfEnded(BackgroundCall current, Promise<BackgroundCall> ended) {
    if (current.outcome.isComplete()) {
      ended.tryComplete(current);
    }
  }

  /** Looks at this node's copy of the records. */
  private void settleEnded() {
    Map.copyOf(cancelledElsewhere)
        .forEach(
            (call, ended) ->
                records
                    .cached(call.id())
                    .map(record -> remote(call.id(), call.request.caller().name(), record))
                    .ifPresent(current -> settleIfEnded(current, ended)));
  }

  private void cancelOwn(String id) {
    if (calls.containsKey(id)) {
      pipeline.cancel(id, CANCELLED);
    }
  }

  private static BridgeException notFound(String id) {
    return new BridgeException(ErrorCode.CALL_NOT_FOUND, "Call '" + id + "' not found");
  }

  private void ended(BackgroundCall call) {
    call.endedMillis = clock.millis();
    if (call.outcome.succeeded()
        && call.outcome.result() instanceof CallOutcome.Completed completed) {
      call.size = completed.result().length();
      bytes.add(call.share(), call.size);
    }
  }

  private void removeExpired() {
    long expiry = clock.millis() - RETENTION_MILLIS;
    calls
        .values()
        .removeIf(
            call -> {
              boolean isExpired = call.endedMillis > 0 && call.endedMillis < expiry;
              if (isExpired) {
                shares.release(call.share());
                bytes.release(call.share(), call.size);
              }
              return isExpired;
            });
  }
}
