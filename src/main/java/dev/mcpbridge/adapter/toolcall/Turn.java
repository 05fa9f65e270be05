package dev.mcpbridge.adapter.toolcall;

import dev.mcpbridge.adapter.Backend;
import dev.mcpbridge.adapter.HttpCaller;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The function calls of one request to the executor. Confined to its context. */
final class Turn {
  private static final int MAX_BYTES = 1 << 20;

  private final int maxCalls;
  private final List<TurnCall> calls = new ArrayList<>();
  private HttpCaller.Exchange exchange;
  private int bytes;

  /** One of its calls. */
  record TurnCall(String id, Backend.Invocation invocation, Promise<JsonSlice> result) {}

  Turn(int maxCalls) {
    this.maxCalls = maxCalls;
  }

  TurnCall add(String id, Backend.Invocation invocation) {
    TurnCall call = new TurnCall(id, invocation, Promise.promise());
    calls.add(call);
    bytes += invocation.arguments().length();
    return call;
  }

  /** Whether it takes no further calls. */
  boolean isFull() {
    return exchange != null || calls.size() >= maxCalls || bytes > MAX_BYTES;
  }

  /**
   * Sends the calls that were not cancelled, if there are any and it was not sent before.
   *
   * @param post sends the request, with the trace context of the first call
   */
  void send(Function<Turn, HttpCaller.Exchange> post) {
    if (exchange == null && !calls.isEmpty()) {
      exchange = post.apply(this);
      exchange
          .response()
          .map(FunctionResponses::of)
          .onComplete(this::answered, failure -> calls.forEach(each -> fail(each, failure)));
    }
  }

  private void answered(FunctionResponses responses) {
    for (TurnCall call : calls) {
      try {
        call.result().tryComplete(responses.result(call.id()));
      } catch (BridgeException e) {
        fail(call, e);
      }
    }
  }

  private static void fail(TurnCall call, Throwable failure) {
    call.result().tryFail(failure);
  }

  /** Cancels one call; the request with the last one. */
  void cancel(TurnCall call) {
    BridgeException cancelled = new BridgeException(ErrorCode.CANCELLED, "cancelled");
    if (exchange == null) {
      calls.remove(call);
      fail(call, cancelled.withExecuted(Executed.NO));
      return;
    }
    fail(call, cancelled.withExecuted(Executed.UNKNOWN));
    if (calls.stream().allMatch(each -> each.result().future().isComplete())) {
      exchange.cancel();
    }
  }

  boolean isFirst(TurnCall call) {
    return calls.get(0) == call;
  }

  /** The first of its calls. */
  Backend.Invocation first() {
    return calls.get(0).invocation();
  }

  JsonSlice body() {
    JsonWriter out =
        new JsonWriter(2 * bytes + 128 * calls.size())
            .beginObject()
            .name("tool_calls")
            .beginArray();
    for (TurnCall call : calls) {
      out.beginObject()
          .member("id", call.id())
          .member("type", "function")
          .name("function")
          .beginObject()
          .member("name", call.invocation().tool())
          .member("arguments", call.invocation().arguments().text())
          .endObject()
          .endObject();
    }
    return out.endArray().endObject().toSlice();
  }
}
