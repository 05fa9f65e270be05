package dev.mcpbridge.transport;

import dev.mcpbridge.config.RemoteTarget;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import java.net.URI;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Sends requests to one remote MCP server, with its configured headers. */
final class HttpPeer {
  private final RemoteTarget remoteTarget;
  private final HttpSender sender;

  HttpPeer(Vertx vertx, RemoteTarget remoteTarget, MemoryBudget memory, BooleanSupplier mayAct) {
    this.remoteTarget = remoteTarget;
    this.sender = new HttpSender(vertx, remoteTarget.access(), memory, mayAct);
  }

  URI url() {
    return remoteTarget.url();
  }

  /** Posts a message; the body of the response is left unread. */
  PendingRequest post(URI url, byte[] body, Map<String, String> headers) {
    return sender.send(
        HttpMethod.POST,
        url,
        request ->
            addHeaders(request, headers)
                .putHeader("content-type", "application/json")
                .putHeader("accept", "application/json, text/event-stream")
                .send(Buffer.buffer(body)));
  }

  /** Opens an event stream. */
  Future<ClientResponse> listen(URI url, Map<String, String> headers) {
    return sender
        .send(
            HttpMethod.GET,
            url,
            request -> addHeaders(request, headers).putHeader("accept", "text/event-stream").send())
        .response();
  }

  Future<Void> delete(URI url, Map<String, String> headers) {
    return sender
        .send(HttpMethod.DELETE, url, request -> addHeaders(request, headers).send())
        .response()
        .compose(clientResponse -> clientResponse.response().end());
  }

  private HttpClientRequest addHeaders(HttpClientRequest request, Map<String, String> headers) {
    remoteTarget
        .access()
        .headers()
        .forEach((name, value) -> request.putHeader(name, value.reveal()));
    headers.forEach(request::putHeader);
    return request;
  }

  Future<Void> close() {
    return sender.close();
  }
}
