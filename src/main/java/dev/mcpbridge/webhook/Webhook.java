package dev.mcpbridge.webhook;

import dev.mcpbridge.config.WebhookConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.metrics.Event;
import dev.mcpbridge.model.Notice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.http.StreamResetException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * One receiver of notices. A notice that is not answered with a status 2xx is sent again after
 * growing pauses. Meanwhile later ones go on, so that one that the receiver cannot handle holds up
 * no other; notices may therefore arrive in another order. Confined to the event loop.
 */
final class Webhook {
  /** Requests at a time. */
  static final int AT_ONCE = 4;

  /** Notices that are kept until they are delivered; half of them for one source. */
  static final int MAX_UNDELIVERED = 1_000;

  /**
   * How a notice is sent.
   *
   * @param timeoutMillis of one attempt
   * @param pauses after failed attempts, in milliseconds; after the last one it has failed
   * @param endMillis how long the end waits for the answers of the receiver
   */
  record Attempts(int timeoutMillis, List<Long> pauses, int endMillis) {
    /** Over 45 minutes together. */
    static final Attempts STANDARD =
        new Attempts(
            10_000, List.of(1_000L, 5_000L, 30_000L, 120_000L, 600_000L, 1_800_000L), 3_000);
  }

  private enum State {
    OPEN,
    /** Sends what is due, and takes nothing more. */
    ENDING,
    /** Sends nothing more. */
    CLOSED
  }

  private static final Logger LOG = System.getLogger(Webhook.class.getName());
  private static final int GONE = 410;

  private final Vertx vertx;
  private final HttpClient client;
  private final WebhookConfig config;
  private final Attempts attempts;
  private final Counts counts;
  private final Deque<Delivery> ready = new ArrayDeque<>();
  private final Shares undelivered =
      new Shares(new Shares.Limit("notices", "", MAX_UNDELIVERED, 0), () -> true);

  private int running;
  private boolean isFailing;
  private State state = State.OPEN;

  /** Completed when there is nothing due after the end has begun. */
  private final Promise<Void> allSent = Promise.promise();

  Webhook(Vertx vertx, HttpClient client, WebhookConfig config, Attempts attempts, Counts counts) {
    this.vertx = vertx;
    this.client = client;
    this.config = config;
    this.attempts = attempts;
    this.counts = counts;
  }

  void send(Notice notice) {
    if (state != State.OPEN || !config.events().contains(notice.type().apiName())) {
      return;
    }
    try {
      undelivered.acquire(notice.source());
    } catch (BridgeException full) {
      counts.count(Event.WEBHOOK, "dropped");
      return;
    }
    ready.add(Delivery.of(notice, System.currentTimeMillis(), config.withArguments()));
    sendReady();
  }

  /** Sends what is due, for some seconds at most, and then nothing more. */
  Future<Void> close() {
    state = state == State.OPEN ? State.ENDING : state;
    long limit = vertx.setTimer(attempts.endMillis(), due -> allSent.tryComplete());
    endIfIdle();
    return allSent.future().onComplete(over -> closed(limit));
  }

  private void endIfIdle() {
    if (state != State.OPEN && running == 0 && ready.isEmpty()) {
      allSent.tryComplete();
    }
  }

  private void closed(long limit) {
    vertx.cancelTimer(limit);
    state = State.CLOSED;
    if (undelivered() > 0) {
      LOG.log(
          Level.WARNING, "webhook={0} state=closed undelivered={1}", config.host(), undelivered());
    }
  }

  /** How many notices wait, are on their way, or pause. */
  int undelivered() {
    return undelivered.total();
  }

  private void sendReady() {
    while (!ready.isEmpty() && running < AT_ONCE) {
      Delivery delivery = ready.poll();
      if (state == State.CLOSED) {
        settle(delivery, "dropped");
      } else {
        running++;
        post(delivery)
            .onComplete(
                status -> ended(delivery, status, "status " + status),
                failure -> ended(delivery, 0, reason(failure)));
      }
    }
  }

  private String reason(Throwable failure) {
    return failure instanceof StreamResetException
        ? "no answer within " + attempts.timeoutMillis() + " ms"
        : String.valueOf(failure.getMessage());
  }

  /** The status of the response, whose body is not read. */
  private Future<Integer> post(Delivery delivery) {
    return client
        .request(request(delivery))
        .compose(
            request -> {
              long limit = vertx.setTimer(attempts.timeoutMillis(), due -> request.reset());
              return request
                  .send(delivery.body())
                  .onFailure(failed -> vertx.cancelTimer(limit))
                  .onSuccess(response -> endsTimer(response, limit))
                  .map(HttpClientResponse::statusCode);
            });
  }

  /** The connection is free when the body has ended, or is cut by the timer. */
  private void endsTimer(HttpClientResponse response, long limit) {
    response.end().onComplete(ended -> vertx.cancelTimer(limit));
  }

  private RequestOptions request(Delivery delivery) {
    long timestamp = Instant.now().getEpochSecond();
    RequestOptions request =
        new RequestOptions()
            .setMethod(HttpMethod.POST)
            .setAbsoluteURI(config.url().toString())
            .setConnectTimeout(attempts.timeoutMillis())
            .putHeader("content-type", "application/json");
    config.headers().forEach((name, value) -> request.putHeader(name, value.reveal()));
    return request
        .putHeader("webhook-id", delivery.id())
        .putHeader("webhook-timestamp", Long.toString(timestamp))
        .putHeader(
            "webhook-signature",
            Signatures.of(config.secrets(), delivery.id(), timestamp, delivery.body().getBytes()));
  }

  /**
   * @param status 0 without a response
   */
  private void ended(Delivery delivery, int status, String reason) {
    running--;
    if (status / 100 == 2) {
      settle(delivery, "delivered");
      recovered();
    } else if (status == GONE) {
      settle(delivery, "failed");
      gone();
    } else {
      failed(delivery, reason);
    }
    sendReady();
    endIfIdle();
  }

  private void settle(Delivery delivery, String outcome) {
    undelivered.release(delivery.source());
    counts.count(Event.WEBHOOK, outcome);
  }

  private void failed(Delivery delivery, String reason) {
    if (state == State.CLOSED) {
      settle(delivery, "dropped");
      return;
    }
    if (state == State.ENDING) {
      return; // the end tells how many are undelivered
    }
    if (!isFailing) {
      isFailing = true;
      LOG.log(Level.WARNING, "webhook={0} state=failing reason={1}", config.host(), reason);
    }
    if (delivery.failures() == attempts.pauses().size()) {
      settle(delivery, "failed");
      return;
    }
    counts.count(Event.WEBHOOK, "retried");
    long millis = attempts.pauses().get(delivery.failures());
    vertx.setTimer(
        millis + ThreadLocalRandom.current().nextLong(1 + millis / 4),
        due -> {
          ready.add(delivery.failed());
          sendReady();
        });
  }

  private void recovered() {
    if (isFailing) {
      isFailing = false;
      LOG.log(Level.INFO, "webhook={0} state=delivering", config.host());
    }
  }

  /** A receiver that answers 410 wants no notice until the next start (Standard Webhooks). */
  private void gone() {
    if (state != State.CLOSED) {
      state = State.CLOSED;
      LOG.log(Level.ERROR, "webhook={0} state=gone reason=status 410", config.host());
    }
  }
}
