package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.mcp.request.McpRequest;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RpcWriter;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The requests that were sent to the client of a session and have no response yet. */
final class SentRequests {
  private final Vertx vertx;
  private final String idPrefix;
  private final Map<String, SentRequest> unanswered = new HashMap<>();
  private long count;

  /**
   * @param cause id of the client's request that it concerns
   */
  private record SentRequest(JsonSlice cause, Promise<JsonSlice> response) {}

  /**
   * @param node the slot of this node
   */
  SentRequests(Vertx vertx, int node) {
    this.vertx = vertx;
    this.idPrefix = "bridge-" + node + "-";
  }

  /**
   * Sends a request on the stream of the client's request that it concerns. A disconnect is not a
   * refusal: the client may respond in another request, until the timeout.
   */
  Future<JsonSlice> send(McpRequest during, String method, JsonSlice params, long timeoutMillis) {
    String id = idPrefix + ++count;
    if (!during.replyChannel().send(RpcWriter.request(id, method, params).toSlice())) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.FORBIDDEN, "The client accepts no requests on this stream"));
    }
    Promise<JsonSlice> response = Promise.promise();
    unanswered.put(id, new SentRequest(during.message().id(), response));
    long timer = vertx.setTimer(Math.max(1, timeoutMillis), t -> response.tryFail(timedOut()));
    return response
        .future()
        .onComplete(done -> vertx.cancelTimer(timer))
        .onComplete(done -> unanswered.remove(id));
  }

  /** Completes the request with the client's response; false if it was not sent here. */
  boolean complete(ClientMessage response) {
    SentRequest sent = unanswered.get(JsonObjects.string(response.id()));
    if (sent == null) {
      return false;
    }
    Map<String, JsonSlice> members = JsonObjects.members(response.raw());
    if (members.containsKey("result")) {
      sent.response().tryComplete(members.get("result").detached());
    } else {
      sent.response().tryFail(rejected(members.get("error").detached()));
    }
    return true;
  }

  /** Fails the requests that concern a request of the client. */
  void fail(JsonSlice cause) {
    List.copyOf(unanswered.values()).stream()
        .filter(sent -> sent.cause().equals(cause))
        .forEach(sent -> sent.response().tryFail(disconnected()));
  }

  void failAll() {
    List.copyOf(unanswered.values()).forEach(sent -> sent.response().tryFail(disconnected()));
  }

  private static BridgeException timedOut() {
    return new BridgeException(
        ErrorCode.CONFIRMATION_EXPIRED, "The client did not respond in time");
  }

  private static BridgeException rejected(JsonSlice error) {
    return new BridgeException(ErrorCode.UPSTREAM_ERROR, "The client responded with an error")
        .with("upstream", error);
  }

  private static BridgeException disconnected() {
    return new BridgeException(ErrorCode.CANCELLED, "The client disconnected without a response");
  }
}
