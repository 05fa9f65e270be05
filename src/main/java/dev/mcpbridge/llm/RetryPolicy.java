package dev.mcpbridge.llm;

import dev.mcpbridge.error.BridgeException;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;

/** Decides whether and when a request to a model is retried. Stateless. */
final class RetryPolicy {
  private static final int MAX_FAILURES = 4;
  private static final long FIRST_MILLIS = 500;
  private static final long MAX_MILLIS = 60_000;

  /** 529 is Anthropic's status for overload. */
  private static final Set<Integer> TRANSIENT = Set.of(408, 409, 429, 500, 502, 503, 504, 529);

  /** A transient failure. */
  static final class RetryableFailure extends Exception {
    private static final long serialVersionUID = 1L;
    private final transient BridgeException failure;
    private final long retryAfterMillis;

    /**
     * @param retryAfterMillis the delay that the provider requests; −1 if it requests none
     */
    RetryableFailure(BridgeException failure, long retryAfterMillis) {
      super(failure.getMessage(), null, false, false);
      this.failure = failure;
      this.retryAfterMillis = retryAfterMillis;
    }

    RetryableFailure mapFailure(UnaryOperator<BridgeException> mapper) {
      return new RetryableFailure(mapper.apply(failure), retryAfterMillis);
    }
  }

  /** Classifies a failed response. Throws the failure if it is permanent. */
  static RetryableFailure of(HttpResponse.ResponseInfo response, BridgeException failure) {
    if (!TRANSIENT.contains(response.statusCode())) {
      throw failure;
    }
    return new RetryableFailure(failure, retryAfterMillis(response.headers()));
  }

  /**
   * Waits before the next attempt.
   *
   * @param failures the number of failed attempts so far
   * @throws BridgeException if there is no further attempt
   */
  void await(RetryableFailure retryableFailure, int failures, ChatModel.ModelListener modelListener)
      throws InterruptedException {
    boolean isTooLong = retryableFailure.retryAfterMillis > MAX_MILLIS;
    if (failures >= MAX_FAILURES || isTooLong) {
      throw isTooLong
          ? retryableFailure.failure.prefixed(
              "Retry after "
                  + Duration.ofMillis(retryableFailure.retryAfterMillis).toSeconds()
                  + " s: ")
          : retryableFailure.failure;
    }
    long backoff = FIRST_MILLIS << (failures - 1);
    long jittered = backoff / 2 + ThreadLocalRandom.current().nextLong(backoff / 2 + 1);
    long millis =
        retryableFailure.retryAfterMillis >= 0 ? retryableFailure.retryAfterMillis : jittered;
    modelListener.onRetry(millis, retryableFailure.failure.getMessage());
    Thread.sleep(millis);
  }

  /** Retry-After of RFC 9110 section 10.2.3, and the header in milliseconds of OpenAI's SDK. */
  private static long retryAfterMillis(HttpHeaders headers) {
    String millis = headers.firstValue("retry-after-ms").orElse("");
    if (millis.matches("\\d{1,9}")) {
      return Long.parseLong(millis);
    }
    String delay = headers.firstValue("retry-after").orElse("");
    if (delay.matches("\\d{1,9}(\\.\\d+)?")) {
      return (long) (Double.parseDouble(delay) * 1_000);
    }
    try {
      Instant at = ZonedDateTime.parse(delay, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      return Math.max(0, Duration.between(Instant.now(), at).toMillis());
    } catch (DateTimeParseException e) {
      return -1;
    }
  }
}
