package dev.mcpbridge.transport;

import dev.mcpbridge.config.RemoteTarget;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Sends requests to one remote MCP server, with its configured headers and the credential of the
 * connection. A request that is refused for its credential was not executed, so it is repeated with
 * another one.
 */
final class HttpPeer {
  private static final int MAX_ATTEMPTS = 3;

  private final Vertx vertx;
  private final RemoteTarget remoteTarget;
  private final RequestAuthorization authorization;
  private final HttpSender sender;

  HttpPeer(
      Vertx vertx,
      RemoteTarget remoteTarget,
      RequestAuthorization authorization,
      MemoryBudget memory,
      BooleanSupplier mayAct) {
    this.vertx = vertx;
    this.remoteTarget = remoteTarget;
    this.authorization = authorization;
    this.sender = new HttpSender(vertx, remoteTarget.access(), memory, mayAct);
  }

  URI url() {
    return remoteTarget.url();
  }

  /** Posts a message; the body of the response is left unread. */
  PendingRequest post(URI url, byte[] body, Map<String, String> headers) {
    return send(
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
    return send(
            HttpMethod.GET,
            url,
            request -> addHeaders(request, headers).putHeader("accept", "text/event-stream").send())
        .response();
  }

  Future<Void> delete(URI url, Map<String, String> headers) {
    return send(HttpMethod.DELETE, url, request -> addHeaders(request, headers).send())
        .response()
        .compose(clientResponse -> clientResponse.response().end());
  }

  /** Never fails before it returns, as a request without a credential would not. */
  private PendingRequest send(HttpMethod method, URI url, HttpSender.RequestWriter writer) {
    if (authorization == RequestAuthorization.NONE) {
      return sender.send(method, url, writer);
    }
    PendingRequest pendingRequest = new PendingRequest();
    Promise<ClientResponse> response = Promise.promise();
    vertx.runOnContext(v -> attempt(1, pendingRequest, method, url, writer).onComplete(response));
    return pendingRequest.follow(response.future());
  }

  private Future<ClientResponse> attempt(
      int number,
      PendingRequest pendingRequest,
      HttpMethod method,
      URI url,
      HttpSender.RequestWriter writer) {
    return authorization
        .header()
        .compose(
            credential ->
                sender
                    .send(
                        pendingRequest,
                        method,
                        url,
                        request -> writer.apply(authorized(request, credential)))
                    .compose(
                        response -> {
                          if (!isRefused(response) || number == MAX_ATTEMPTS) {
                            return Future.succeededFuture(response);
                          }
                          return refused(response, credential, number > 1)
                              .compose(
                                  other ->
                                      attempt(number + 1, pendingRequest, method, url, writer));
                        }));
  }

  private static HttpClientRequest authorized(HttpClientRequest request, String credential) {
    return credential == null ? request : request.putHeader("authorization", credential);
  }

  /** RFC 6750 section 3.1. */
  private static boolean isRefused(ClientResponse response) {
    int status = response.response().statusCode();
    return status == 401
        || status == 403
            && challenges(response).stream().anyMatch(text -> text.contains("insufficient_scope"));
  }

  private Future<Void> refused(ClientResponse response, String credential, boolean isRepeated) {
    response.abort();
    return authorization.refused(
        new RequestAuthorization.Refusal(
            credential, response.response().statusCode(), challenges(response), isRepeated));
  }

  private static List<String> challenges(ClientResponse response) {
    return response.response().headers().getAll("www-authenticate");
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
