package dev.mcpbridge.llm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.EchoApi;
import java.net.URI;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Error handling and retries of each model. */
@ParameterizedClass
@EnumSource(Recorded.class)
@Timeout(60)
class ModelFailuresTest extends ModelScenarios {
  private static final List<String> WORDS = List.of("one ", "two ", "three");

  @ParameterizedTest
  @ValueSource(ints = {429, 500, 503, 529, 408})
  void transientFailuresAreRetried(int status) throws Exception {
    // Given
    provider
        .then(provider.fails(status, "Not now.", "retry-after-ms", "20", "retry-after", "50"))
        .then(provider.fails(status, "Not now.", "retry-after", "0"))
        .then(recorded.answers.text(WORDS));

    // When
    ModelReply modelReply = provider.ask("hello");

    // Then
    assertEquals("one two three", modelReply.text());
    assertEquals(List.of(20L, 0L), provider.waits);
    assertTrue(provider.reasons.get(0).endsWith("status " + status + ": Not now."));
    assertEquals(provider.requests().get(0).text(), provider.requests().get(2).text());
  }

  @Test
  void delaysGrowWithoutARetryAfterHeader() throws Exception {
    provider
        .then(provider.fails(500, "No."), provider.fails(500, "No."))
        .then(recorded.answers.text(WORDS));

    provider.ask("hello");

    assertEquals(2, provider.waits.size());
    assertTrue(isWithin(provider.waits.get(0), 250, 500), provider.waits.toString());
    assertTrue(isWithin(provider.waits.get(1), 500, 1_000), provider.waits.toString());
  }

  private static boolean isWithin(long value, long from, long to) {
    return value >= from && value <= to;
  }

  @Test
  void atMostFourAttemptsAreMade() throws Exception {
    for (int i = 0; i < 5; i++) {
      provider.then(provider.fails(429, "Too fast.", "retry-after-ms", "1"));
    }

    BridgeException failure = failed();

    assertEquals(ErrorCode.RATE_LIMITED, failure.code());
    assertTrue(failure.getMessage().endsWith("status 429: Too fast."), failure.getMessage());
    assertEquals(4, provider.requests().size());
    assertEquals(List.of(1L, 1L, 1L), provider.waits);
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 404, 413, 422, 301})
  void permanentFailuresAreNotRetried(int status) throws Exception {
    provider.then(provider.fails(status, "It is wrong.", "location", "/elsewhere"));

    String message = failed().getMessage();

    assertTrue(message.contains("status " + status + ": It is wrong."), message);
    assertEquals(status == 401 || status == 403, message.contains("(check the API key)"), message);
    assertEquals(1, provider.requests().size());
    assertEquals(List.of(), provider.waits);
  }

  /** A value of Retry-After; a number of seconds after {@code date:} stands for that date. */
  private static String retryAfter(String value) {
    return value.startsWith("date:") ? date(Integer.parseInt(value.substring(5))) : value;
  }

  private static String date(int seconds) {
    return ZonedDateTime.now(ZoneOffset.UTC)
        .plusSeconds(seconds)
        .format(DateTimeFormatter.RFC_1123_DATE_TIME);
  }

  @ParameterizedTest
  @ValueSource(strings = {"30", "29.5", "date:30"})
  void retryAfterIsReadAsSecondsAndAsADate(String value) throws Exception {
    // Given
    provider.then(provider.fails(429, "Later.", "retry-after", retryAfter(value)));
    List<Long> waits = new ArrayList<>();
    ChatModel.ModelListener listener =
        new ChatModel.ModelListener() {
          @Override
          public void onText(String more) {}

          @Override
          public void onRetry(long millis, String why) {
            waits.add(millis);
            Thread.currentThread().interrupt();
          }
        };

    // When
    assertThrows(InterruptedException.class, () -> provider.once(listener));

    // Then
    assertEquals(1, waits.size());
    assertTrue(isWithin(waits.get(0), 20_000, 30_000), waits.toString());
    assertEquals(1, provider.requests().size());
  }

  @Test
  void retryAfterInThePastCausesNoDelay() throws Exception {
    provider
        .then(provider.fails(503, "Later.", "retry-after", date(-30)))
        .then(recorded.answers.text(WORDS));

    provider.ask("hello");

    assertEquals(List.of(0L), provider.waits);
  }

  @ParameterizedTest
  @ValueSource(strings = {"3600", "99999999", "date:3600"})
  void longRetryAfterIsReportedInsteadOfAwaited(String value) throws Exception {
    provider.then(provider.fails(429, "Your quota is used up.", "retry-after", retryAfter(value)));

    BridgeException failure = failed();

    assertTrue(failure.getMessage().startsWith("Retry after "), failure.getMessage());
    assertTrue(failure.getMessage().contains("Your quota"), failure.getMessage());
    assertEquals(1, provider.requests().size());
    assertEquals(List.of(), provider.waits);
  }

  @Test
  void errorPageOfAProxyIsShortenedAndRetried() throws Exception {
    String page = "<html><body>\n<h1>502 Bad Gateway</h1>" + "<hr>".repeat(1_000) + "</html>";
    for (int i = 0; i < 4; i++) {
      provider.then(EchoApi.respondWith(502, "text/html", page, "retry-after-ms", "1"));
    }

    String message = failed().getMessage();

    assertTrue(message.contains("status 502: <html><body> <h1>502 Bad Gateway</h1>"), message);
    assertTrue(message.length() < 700, message);
    assertEquals(4, provider.requests().size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "null", "[]", "{\"a\":", "<html>Log in</html>", "{} {}", "\uFEFF?"})
  void responseThatIsNotAJsonObjectIsReported(String text) throws Exception {
    provider.then(EchoApi.respondWith(200, "text/html", text));

    BridgeException failure = failed();

    assertEquals(ErrorCode.UPSTREAM_PROTOCOL_ERROR, failure.code());
    assertTrue(failure.getMessage().contains("did not return a JSON object"), failure.getMessage());
    assertEquals(1, provider.requests().size());
  }

  @Test
  void connectionLostBeforeAnyEventIsRetried() throws Exception {
    List<EchoApi.Script> breaks =
        List.of(
            (request, peer) -> false,
            (request, peer) -> {
              peer.out().write("HTTP/1.1 200 OK\r\ncontent-".getBytes());
              peer.out().flush();
              return false;
            });
    provider
        .then(breaks.get(0), breaks.get(1), provider.breaksOff(List.of("")))
        .then(recorded.answers.text(WORDS));

    ModelReply modelReply = provider.ask("hello");

    assertEquals("one two three", modelReply.text());
    assertEquals("one two three", String.join("", provider.receivedText));
    assertEquals(4, provider.requests().size());
    assertEquals(3, provider.waits.size());
  }

  @Test
  void keyIsRemovedFromErrorsThatEchoIt() throws Exception {
    String sentence = "Incorrect API key provided: " + ScriptedProvider.KEY + ".";
    provider.then(
        provider.fails(401, sentence),
        provider.fails(500, sentence, "retry-after-ms", "1"),
        EchoApi.respondWith(200, "text/html", sentence));
    if (recorded.answers.isStream()) {
      provider.then(List.of(recorded.answers.failure(sentence)));
    }

    for (int i = 0; i < (recorded.answers.isStream() ? 3 : 2); i++) {
      String message = failed().getMessage();
      assertTrue(message.contains("Incorrect API key provided: "), message);
    }
    provider.reasons.forEach(why -> assertFalse(why.contains(ScriptedProvider.KEY), why));
  }

  @Test
  void keyThatIsInvalidInAHeaderIsRejectedAndNotShown() throws Exception {
    provider.then(recorded.answers.text(WORDS));
    provider.model = provider.model("", "sk-\n" + ScriptedProvider.KEY, Duration.ofSeconds(10), 0);

    String message = failed().getMessage();

    assertTrue(message.contains("key"), message);
    assertEquals(0, provider.requests().size());
  }

  @Test
  void refusedConnectionIsReportedAtOnce() throws Exception {
    // Given
    URI unusedAddress = URI.create("http://127.0.0.1:1");
    provider.model =
        recorded.provider.at(
            new ModelEndpoint(
                unusedAddress, ScriptedProvider.KEY, "a-model", Duration.ofSeconds(10), 0));

    // When
    BridgeException failure = failed();

    // Then
    assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure.code());
    assertEquals(List.of(), provider.waits);
  }
}
