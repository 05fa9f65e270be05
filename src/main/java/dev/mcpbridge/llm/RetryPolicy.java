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

/** When a request to a model is made again, and after how long. Stateless. */
final class RetryPolicy {
  private static final int MAX_FAILURES = 4;
  private static final long FIRST_MILLIS = 500;
  private static final long MAX_MILLIS = 60_000;

  /** 529 is Anthropic's word for being overloaded. */
  private static final Set<Integer> PASSING = Set.of(408, 409, 429, 500, 502, 503, 504, 529);

  /** A failure that may pass. */
  static final class Needed extends Exception {
    private static final long serialVersionUID = 1L;
    private final transient BridgeException failure;
    private final long askedMillis;

    /**
     * @param askedMillis what the provider wants to be waited; −1 where it says nothing
     */
    Needed(BridgeException failure, long askedMillis) {
      super(failure.getMessage(), null, false, false);
      this.failure = failure;
      this.askedMillis = askedMillis;
    }

    Needed saying(UnaryOperator<BridgeException> words) {
      return new Needed(words.apply(failure), askedMillis);
    }
  }

  /** What to do about an answer that is none; what would be the same again is thrown at once. */
  static Needed of(HttpResponse<?> response, BridgeException failure) {
    if (!PASSING.contains(response.statusCode())) {
      throw failure;
    }
    return new Needed(failure, askedMillis(response.headers()));
  }

  /**
   * Waits for the next attempt.
   *
   * @throws BridgeException where there is to be none
   */
  void await(Needed needed, int failures, ChatModel.ModelListener modelListener)
      throws InterruptedException {
    boolean isTooLong = needed.askedMillis > MAX_MILLIS;
    if (failures >= MAX_FAILURES || isTooLong) {
      throw isTooLong
          ? needed.failure.prefixed(
              "To be tried again in " + Duration.ofMillis(needed.askedMillis).toSeconds() + " s: ")
          : needed.failure;
    }
    long backoff = FIRST_MILLIS << (failures - 1);
    long jittered = backoff / 2 + ThreadLocalRandom.current().nextLong(backoff / 2 + 1);
    long millis = needed.askedMillis >= 0 ? needed.askedMillis : jittered;
    modelListener.waits(millis, needed.failure.getMessage());
    Thread.sleep(millis);
  }

  /** RFC 9110 section 10.2.3, and the finer header that OpenAI's SDK knows. */
  private static long askedMillis(HttpHeaders headers) {
    String millis = headers.firstValue("retry-after-ms").orElse("");
    if (millis.matches("\\d{1,9}")) {
      return Long.parseLong(millis);
    }
    String asked = headers.firstValue("retry-after").orElse("");
    if (asked.matches("\\d{1,9}(\\.\\d+)?")) {
      return (long) (Double.parseDouble(asked) * 1_000);
    }
    try {
      Instant at = ZonedDateTime.parse(asked, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      return Math.max(0, Duration.between(Instant.now(), at).toMillis());
    } catch (DateTimeParseException e) {
      return -1;
    }
  }
}
