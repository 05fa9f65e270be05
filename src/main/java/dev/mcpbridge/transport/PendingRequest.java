package dev.mcpbridge.transport;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientRequest;

/**
 * One request in flight. If it is cancelled before it has a connection, it is never sent; otherwise
 * its connection is closed. Confined to its context.
 */
public final class PendingRequest {
  private final Promise<ClientResponse> response = Promise.promise();
  private HttpClientRequest request;
  private boolean cancelled;

  /** Completes with the head of the response. */
  public Future<ClientResponse> response() {
    return response.future();
  }

  /** Called when the request has a connection; false if it was cancelled before. */
  boolean onConnection(HttpClientRequest opened) {
    request = opened;
    if (cancelled) {
      opened.reset(ClientResponse.CANCEL);
    }
    return !cancelled;
  }

  PendingRequest follow(Future<ClientResponse> outcome) {
    outcome.onComplete(
        clientResponse -> {
          if (!response.tryComplete(clientResponse)) {
            clientResponse.abort();
          }
        },
        response::tryFail);
    return this;
  }

  /** Cancels the request; aborts the response if its head has arrived already. */
  public void cancel() {
    cancelled = true;
    if (response.future().succeeded()) {
      response.future().result().abort();
    } else if (request != null) {
      request.reset(ClientResponse.CANCEL);
    }
    response.tryFail("the request was cancelled");
  }

  /** Cancels the request unless the head of the response arrives in time. */
  PendingRequest cancelAfter(Vertx vertx, long millis) {
    long timer = vertx.setTimer(millis, t -> cancel());
    response.future().onComplete(done -> vertx.cancelTimer(timer));
    return this;
  }
}
