package dev.mcpbridge.call;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.ServerId;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Calls whose caller comes back for the outcome. It is kept for ten minutes after the end; the
 * number of calls and the bytes kept are bounded. A call is seen only by the caller who made it.
 */
public final class BackgroundCalls {
  private static final long KEPT_MILLIS = 600_000;
  private static final int MAX_CALLS = 10_000;
  private static final long MAX_BYTES = 64L << 20;

  private final Clock clock;
  private final Map<String, BackgroundCall> calls = new LinkedHashMap<>();
  private long bytes;

  /** One of them. */
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

  public BackgroundCalls(Clock clock) {
    this.clock = clock;
  }

  /** Keeps a call; refuses with OVERLOADED, before it runs, where too many are kept. */
  public BackgroundCall add(CallRequest request, Supplier<Future<CallOutcome>> run) {
    forgetOld();
    if (calls.size() >= MAX_CALLS || bytes > MAX_BYTES) {
      throw new BridgeException(ErrorCode.OVERLOADED, "Too many background calls are kept")
          .withRetryAfter(10_000);
    }
    BackgroundCall call = new BackgroundCall(request, clock.millis());
    calls.put(call.id(), call);
    call.outcome = run.get();
    call.outcome.onComplete(done -> ended(call));
    return call;
  }

  /** Fails with CALL_NOT_FOUND, for somebody else's call too. */
  public BackgroundCall find(String id, String caller) {
    forgetOld();
    BackgroundCall call = calls.get(id);
    if (call == null || !call.request.caller().name().equals(caller)) {
      throw new BridgeException(ErrorCode.CALL_NOT_FOUND, "Call '" + id + "' not found");
    }
    return call;
  }

  private void ended(BackgroundCall call) {
    call.endedMillis = clock.millis();
    if (call.outcome != null
        && call.outcome.succeeded()
        && call.outcome.result() instanceof CallOutcome.Completed completed) {
      call.size = completed.result().length();
      bytes += call.size;
    }
  }

  private void forgetOld() {
    long horizon = clock.millis() - KEPT_MILLIS;
    calls
        .values()
        .removeIf(
            call -> {
              boolean old = call.endedMillis > 0 && call.endedMillis < horizon;
              bytes -= old ? call.size : 0;
              return old;
            });
  }
}
