package dev.mcpbridge.adapter.toolcall;

import dev.mcpbridge.adapter.Backend;
import dev.mcpbridge.adapter.DocumentFetcher;
import dev.mcpbridge.adapter.HttpCaller;
import dev.mcpbridge.adapter.PolledDocument;
import dev.mcpbridge.config.ToolCallSource;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import java.util.List;
import java.util.Map;

/**
 * Offers the functions of an executor as tools. A call is sent once, as a turn with one function
 * call or, if the operator says so, with those that come within a moment. It has no timeout here;
 * the deadline of the call applies.
 */
public final class ToolCallBackend implements Backend {
  private static final long REFRESH_MILLIS = 300_000;
  private static final int MAX_PROBE = 1 << 20;

  private final Vertx vertx;
  private final String name;
  private final ToolCallSource source;
  private final int maxBody;
  private final HttpCaller http;
  private final PolledDocument<List<JsonSlice>> definitions;
  private Turn next;
  private long calls;

  public ToolCallBackend(
      Vertx vertx, String name, ToolCallSource source, HttpCaller http, int maxBody) {
    this.vertx = vertx;
    this.name = name;
    this.source = source;
    this.maxBody = maxBody;
    this.http = http;
    this.definitions =
        new PolledDocument<>(
            vertx,
            name,
            new DocumentFetcher(vertx, http, source.tools(), source.access()),
            text -> vertx.executeBlocking(() -> FunctionDefinitions.read(text), false));
  }

  @Override
  public Future<Identity> open(Listener listener) {
    return definitions
        .open()
        .compose(read -> probe())
        .map(
            reachable -> {
              definitions.watch(REFRESH_MILLIS, listener::changed);
              return new Identity(name, "0", null);
            });
  }

  @Override
  public List<JsonSlice> tools() {
    return definitions.current();
  }

  @Override
  public RunningCall call(Invocation invocation) {
    if (next == null || next.isFull()) {
      next = new Turn(source.callsPerRequest());
    }
    Turn turn = next;
    Turn.TurnCall call = turn.add("call_" + ++calls, invocation);
    if (turn.isFull()) {
      send(turn);
    } else if (turn.isFirst(call)) {
      vertx.setTimer(source.collectMillis(), t -> send(turn));
    }
    return new RunningCall(call.result().future(), () -> turn.cancel(call));
  }

  private void send(Turn turn) {
    next = next == turn ? null : next;
    turn.send(sent -> post(sent.body(), sent.first().traceContext(), maxBody));
  }

  /** Sends a turn without calls; any response except a 5xx status means that the server is up. */
  @Override
  public Future<Void> probe() {
    return post(JsonSlice.of("{\"tool_calls\":[]}"), Map.of(), MAX_PROBE)
        .response()
        .compose(
            response ->
                response.status() < 500
                    ? Future.succeededFuture()
                    : Future.failedFuture(
                        new BridgeException(
                            ErrorCode.SERVER_UNAVAILABLE,
                            "The function executor returned status " + response.status())));
  }

  @Override
  public Future<Void> close() {
    definitions.close();
    return http.close();
  }

  private HttpCaller.Exchange post(
      JsonSlice body, Map<String, String> traceContext, int maxAnswer) {
    return http.send(
        HttpMethod.POST,
        source.url(),
        maxAnswer,
        request -> {
          traceContext.forEach(request::putHeader);
          source
              .access()
              .headers()
              .forEach((header, value) -> request.putHeader(header, value.reveal()));
          request.putHeader("content-type", "application/json");
          request.putHeader("accept", "application/json, text/event-stream");
          return request.send(Buffer.buffer(body.toBytes()));
        });
  }
}
