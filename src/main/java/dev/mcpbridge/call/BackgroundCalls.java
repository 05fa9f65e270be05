package dev.mcpbridge.call;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap.Keep;
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
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Calls whose caller comes back for the outcome. It is kept for ten minutes after the end; the
 * number of calls and the bytes kept are bounded. A call is seen only by the caller who made it.
 */
public final class BackgroundCalls {
  private static final long KEPT_MILLIS = 600_000;
  private static final long LOOK_MILLIS = 50;

  /** A word between nodes may be lost, or come before the call does. */
  private static final long AGAIN_MILLIS = 5_000;

  private static final String GIVEN_UP = "The caller has cancelled the call";
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
  private final Shares shares;
  private final Shares bytes;

  /** One of them. */
  public static final class BackgroundCall {
    private final CallRequest request;
    private final long sinceMillis;
    private Future<CallOutcome> outcome;
    private long endedMillis;
    private boolean isGivenUp;
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
    this.records = cluster.isAlone() ? null : new CallRecords(cluster, "calls", Keep.WHILE_ROOM);
  }

  /** Listens to callers who give up, at another node too, what this one has taken. */
  public void open() {
    bus.subscribe(Addresses.BACKGROUND_CALL_GIVEN_UP, this::giveUpHere);
  }

  /** Keeps a call; fails with OVERLOADED, before it runs, where too many are kept. */
  public Future<BackgroundCall> add(CallRequest request, Supplier<Future<CallOutcome>> run) {
    forgetOld();
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
                  done -> records.settle(request.id(), claim, call.outcome, KEPT_MILLIS));
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

  /** Fails with CALL_NOT_FOUND, for somebody else's call too. */
  public Future<BackgroundCall> find(String id, String caller) {
    forgetOld();
    BackgroundCall call = calls.get(id);
    if (call != null) {
      return call.request.caller().name().equals(caller)
          ? Future.succeededFuture(call)
          : Future.failedFuture(unknown(id));
    }
    if (records == null) {
      return Future.failedFuture(unknown(id));
    }
    return records
        .find(id)
        .map(
            found ->
                found
                    .filter(record -> record.owner().equals(caller))
                    .map(record -> elsewhere(id, caller, record))
                    .orElseThrow(() -> unknown(id)));
  }

  /** One that another node runs or ran. */
  private static BackgroundCall elsewhere(String id, String caller, CallRecord record) {
    CallRequest request =
        new CallRequest(
            id, record.server(), record.target(), Arguments.NONE, Caller.of(caller), false);
    BackgroundCall call = new BackgroundCall(request, record.sinceMillis());
    call.outcome =
        record.outcome() == null ? Promise.<CallOutcome>promise().future() : record.outcome();
    return call;
  }

  /** Gives a call up; done when it is over. That is said again every few seconds until then. */
  public Future<BackgroundCall> giveUp(BackgroundCall call) {
    if (call.outcome.isComplete()) {
      return Future.succeededFuture(call);
    }
    if (calls.get(call.id()) == call) {
      insist(call);
      return call.outcome.transform(over -> Future.succeededFuture(call));
    }
    Promise<BackgroundCall> over = Promise.promise();
    giveUpElsewhere(call, over, 0);
    return over.future();
  }

  /** Only the node that took it knows how far it is. */
  private void giveUpElsewhere(BackgroundCall call, Promise<BackgroundCall> over, int looks) {
    if (looks % (AGAIN_MILLIS / LOOK_MILLIS) == 0) {
      bus.publish(Addresses.BACKGROUND_CALL_GIVEN_UP, call.id());
    }
    vertx.setTimer(
        LOOK_MILLIS,
        t ->
            find(call.id(), call.request.caller().name())
                .onFailure(over::fail)
                .onSuccess(
                    now -> {
                      if (now.outcome.isComplete()) {
                        over.complete(now);
                      } else {
                        giveUpElsewhere(now, over, looks + 1);
                      }
                    }));
  }

  private void giveUpHere(String id) {
    BackgroundCall call = calls.get(id);
    if (call != null) {
      insist(call);
    }
  }

  private void insist(BackgroundCall call) {
    if (!call.isGivenUp) {
      call.isGivenUp = true;
      cancelUntilOver(call);
    }
  }

  private void cancelUntilOver(BackgroundCall call) {
    if (!call.outcome.isComplete()) {
      pipeline.cancel(call.server(), call.id(), GIVEN_UP);
      vertx.setTimer(AGAIN_MILLIS, t -> cancelUntilOver(call));
    }
  }

  private static BridgeException unknown(String id) {
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

  private void forgetOld() {
    long horizon = clock.millis() - KEPT_MILLIS;
    calls
        .values()
        .removeIf(
            call -> {
              boolean old = call.endedMillis > 0 && call.endedMillis < horizon;
              if (old) {
                shares.release(call.share());
                bytes.release(call.share(), call.size);
              }
              return old;
            });
  }
}
