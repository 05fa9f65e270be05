package dev.mcpbridge.transport;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientRequest;

/**
 * One request on its way. Given up before it has a connection it is never sent; after that its
 * connection is closed. Confined to its context.
 */
public final class PendingRequest {
  private final Promise<ClientResponse> answer = Promise.promise();
  private HttpClientRequest request;
  private boolean givenUp;

  /** The head of the answer. */
  public Future<ClientResponse> answer() {
    return answer.future();
  }

  /** Has a connection now; false where nobody wants it any more. */
  boolean begun(HttpClientRequest opened) {
    request = opened;
    if (givenUp) {
      opened.reset();
    }
    return !givenUp;
  }

  PendingRequest follow(Future<ClientResponse> outcome) {
    outcome.onComplete(
        clientResponse -> {
          if (!answer.tryComplete(clientResponse)) {
            clientResponse.abort();
          }
        },
        answer::tryFail);
    return this;
  }

  public void giveUp() {
    givenUp = true;
    if (answer.future().succeeded()) {
      answer.future().result().abort();
    } else if (request != null) {
      request.reset();
    }
    answer.tryFail("given up");
  }

  /** Gives it up unless its answer begins in time. */
  PendingRequest within(Vertx vertx, long millis) {
    long timer = vertx.setTimer(millis, t -> giveUp());
    answer.future().onComplete(done -> vertx.cancelTimer(timer));
    return this;
  }
}
