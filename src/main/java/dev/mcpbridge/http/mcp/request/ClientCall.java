package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcWriter;
import io.vertx.core.Future;
import java.util.function.Consumer;

/**
 * A running call and the client that made it: progress, log messages and requests of the server
 * reach the client, in the way of its era, until the call ends.
 */
final class ClientCall {
  private static final long CLIENT_TIMEOUT_MILLIS = 300_000;
  private static final Runnable NOTHING = () -> {};

  private final McpRequest request;
  private final String id;
  private final Consumer<BridgeException> canceller;
  private final JsonSlice progressToken;
  private final boolean streams;
  private Runnable stopEvents = NOTHING;
  private Runnable stopRequests = NOTHING;
  private SuspendedCalls.SuspendedCall suspended;

  /**
   * @param canceller cancels the call
   * @throws BridgeException CANCELLED if the client has cancelled the request
   */
  ClientCall(McpRequest request, String id, Consumer<BridgeException> canceller) {
    request.checkCancelled();
    this.request = request;
    this.id = id;
    this.canceller = canceller;
    this.progressToken = request.progressToken();
    this.streams =
        request.replyChannel().takesStream()
            && (progressToken != null || request.client().logLevel() != null);
  }

  String id() {
    return id;
  }

  /** Whether the client gets events of the call. */
  boolean streams() {
    return streams;
  }

  /** Connects the call to its client, before it starts. */
  ClientCall connect(Bus bus, SuspendedCalls suspendedCalls, CallIntent callIntent) {
    if (streams) {
      stopEvents = bus.subscribe(Addresses.callEvents(id), this::forward);
    }
    request.cancellation().onCancel(canceller);
    if (request.client().capabilities().length() > 2) {
      if (!request.client().takesRequests()) {
        suspended = suspendedCalls.open(request, callIntent, canceller);
      }
      stopRequests = bus.serve(Addresses.clientRequest(id), this::ask);
    }
    return this;
  }

  /** The result for the client: that of the call, or a request of the server before it. */
  Future<JsonSlice> follow(Future<JsonSlice> outcome) {
    Future<JsonSlice> ended = outcome.onComplete(done -> stopRequests.run());
    Future<JsonSlice> result = suspended == null ? ended : suspended.follow(ended).nextResult();
    return result.onComplete(done -> stopEvents.run());
  }

  private Future<JsonSlice> ask(ServerRequest question) {
    return suspended != null
        ? suspended.ask(question)
        : request
            .client()
            .sendRequest(request, question.method(), question.params(), CLIENT_TIMEOUT_MILLIS);
  }

  private void forward(CallEvent event) {
    if (event.name().equals("progress") && progressToken != null) {
      send(McpMethod.PROGRESS, JsonObjects.with(event.data(), "progressToken", progressToken));
    } else if (event.name().equals("message") && isAccepted(event)) {
      send(McpMethod.MESSAGE, event.data());
    }
  }

  private boolean isAccepted(CallEvent event) {
    String threshold = request.client().logLevel();
    String level = JsonObjects.string(JsonObjects.members(event.data()).get("level"));
    return threshold != null && LogLevels.reaches(level, threshold);
  }

  private void send(String method, JsonSlice params) {
    request.replyChannel().send(RpcWriter.notification(method, params).toSlice());
  }
}
