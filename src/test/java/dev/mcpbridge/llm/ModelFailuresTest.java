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
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Error handling and retries of each model. */
@Timeout(60)
class ModelFailuresTest {
  private static final List<String> WORDS = List.of("one ", "two ", "three");

  private static Stream<Arguments> transientStatuses() {
    return statuses("429", "500", "503", "529", "408");
  }

  private static Stream<Arguments> permanentStatuses() {
    return statuses("400", "401", "403", "404", "413", "422", "301");
  }

  private static Stream<Arguments> statuses(String... statuses) {
    return Stream.of(Recorded.values())
        .flatMap(
            recorded ->
                Arrays.stream(statuses).map(s -> Arguments.of(recorded, Integer.parseInt(s))));
  }

  private static BridgeException failed(ScriptedProvider provider) {
    BridgeException failure = assertThrows(BridgeException.class, () -> provider.ask("hello"));
    assertFalse(failure.getMessage().contains(ScriptedProvider.KEY), failure.getMessage());
    return failure;
  }

  @ParameterizedTest
  @MethodSource("transientStatuses")
  void transientFailuresAreRetried(Recorded recorded, int status) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
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
  }

  @ParameterizedTest
  @EnumSource(Recorded.class)
  void delaysGrowWithoutARetryAfterHeader(Recorded recorded) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      provider
          .then(provider.fails(500, "No."), provider.fails(500, "No."))
          .then(recorded.answers.text(WORDS));

      provider.ask("hello");

      assertEquals(2, provider.waits.size());
      assertTrue(isWithin(provider.waits.get(0), 250, 500), provider.waits.toString());
      assertTrue(isWithin(provider.waits.get(1), 500, 1_000), provider.waits.toString());
    }
  }

  private static boolean isWithin(long value, long from, long to) {
    return value >= from && value <= to;
  }

  @ParameterizedTest
  @EnumSource(Recorded.class)
  void atMostFourAttemptsAreMade(Recorded recorded) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      for (int i = 0; i < 5; i++) {
        provider.then(provider.fails(429, "Too fast.", "retry-after-ms", "1"));
      }

      BridgeException failure = failed(provider);

      assertEquals(ErrorCode.RATE_LIMITED, failure.code());
      assertTrue(failure.getMessage().endsWith("status 429: Too fast."), failure.getMessage());
      assertEquals(4, provider.requests().size());
      assertEquals(List.of(1L, 1L, 1L), provider.waits);
    }
  }

  @ParameterizedTest
  @MethodSource("permanentStatuses")
  void permanentFailuresAreNotRetried(Recorded recorded, int status) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      provider.then(provider.fails(status, "It is wrong.", "location", "/elsewhere"));

      String message = failed(provider).getMessage();

      assertTrue(message.contains("status " + status + ": It is wrong."), message);
      assertEquals(
          status == 401 || status == 403, message.contains("(check the API key)"), message);
      assertEquals(1, provider.requests().size());
      assertEquals(List.of(), provider.waits);
    }
  }

  private static String date(int seconds) {
    return ZonedDateTime.now(ZoneOffset.UTC)
        .plusSeconds(seconds)
        .format(DateTimeFormatter.RFC_1123_DATE_TIME);
  }

  @ParameterizedTest
  @EnumSource(Recorded.class)
  void retryAfterIsReadAsSecondsAndAsADate(Recorded recorded) throws Exception {
    for (String retryAfter : List.of("30", "29.5", date(30))) {
      try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
        // Given
        provider.then(provider.fails(429, "Later.", "retry-after", retryAfter));
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
        assertThrows(
            InterruptedException.class,
            () ->
                provider.model.reply(
                    new ChatRequest("", ScriptedProvider.NO_TOOLS, List.of(), true), listener));

        // Then
        assertEquals(1, waits.size());
        assertTrue(isWithin(waits.get(0), 20_000, 30_000), retryAfter + " " + waits);
        assertEquals(1, provider.requests().size());
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Recorded.class)
  void retryAfterInThePastCausesNoDelay(Recorded recorded) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      provider
          .then(provider.fails(503, "Later.", "retry-after", date(-30)))
          .then(recorded.answers.text(WORDS));

      provider.ask("hello");

      assertEquals(List.of(0L), provider.waits);
    }
  }

  @ParameterizedTest
  @EnumSource(Recorded.class)
  void longRetryAfterIsReportedInsteadOfAwaited(Recorded recorded) throws Exception {
    for (String retryAfter : List.of("3600", "99999999", date(3_600))) {
      try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
        provider.then(provider.fails(429, "Your quota is used up.", "retry-after", retryAfter));

        BridgeException failure = failed(provider);

        assertTrue(failure.getMessage().startsWith("Retry after "), failure.getMessage());
        assertTrue(failure.getMessage().contains("Your quota"), failure.getMessage());
        assertEquals(1, provider.requests().size());
        assertEquals(List.of(), provider.waits);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Recorded.class)
  void errorPageOfAProxyIsShortenedAndRetried(Recorded recorded) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      String page = "<html><body>\n<h1>502 Bad Gateway</h1>" + "<hr>".repeat(1_000) + "</html>";
      for (int i = 0; i < 4; i++) {
        provider.then(EchoApi.respondWith(502, "text/html", page, "retry-after-ms", "1"));
      }

      String message = failed(provider).getMessage();

      assertTrue(message.contains("status 502: <html><body> <h1>502 Bad Gateway</h1>"), message);
      assertTrue(message.length() < 700, message);
      assertEquals(4, provider.requests().size());
    }
  }

  @ParameterizedTest
  @EnumSource(Recorded.class)
  void responseThatIsNotAJsonObjectIsReported(Recorded recorded) throws Exception {
    List<String> garbage =
        List.of("", "null", "[]", "{\"a\":", "<html>Log in</html>", "{} {}", "\uFEFF?");
    for (String text : garbage) {
      try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
        provider.then(EchoApi.respondWith(200, "text/html", text));

        BridgeException failure = failed(provider);

        assertEquals(ErrorCode.UPSTREAM_PROTOCOL_ERROR, failure.code(), text);
        assertTrue(
            failure.getMessage().contains("did not return a JSON object"), failure.getMessage());
        assertEquals(1, provider.requests().size(), text);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(value = Recorded.class, mode = EnumSource.Mode.EXCLUDE, names = "STRUCTURED")
  void errorsWithinAStreamEndItWithoutARetry(Recorded recorded) throws Exception {
    List<String> events = upToTwo(recorded);
    for (String bad : List.of("data: {\"a\":\n\n", recorded.answers.failure("Overloaded."))) {
      try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
        List<String> pieces = new ArrayList<>(events);
        pieces.add(bad);
        provider.then(pieces);

        String message = failed(provider).getMessage();

        assertTrue(
            message.contains("did not return a JSON object")
                || message.contains("failed: Overloaded."),
            message);
        assertEquals(List.of("one ", "two "), provider.receivedText);
        assertEquals(1, provider.requests().size());
      }
    }
  }

  private static List<String> upToTwo(Recorded recorded) {
    List<String> all = recorded.answers.text(WORDS);
    int two =
        IntStream.range(0, all.size())
            .filter(i -> all.get(i).contains("two "))
            .findFirst()
            .orElse(0);
    return all.subList(0, two + 1);
  }

  @ParameterizedTest
  @EnumSource(value = Recorded.class, mode = EnumSource.Mode.EXCLUDE, names = "STRUCTURED")
  void incompleteStreamIsAnErrorWithoutARetry(Recorded recorded) throws Exception {
    List<String> events = upToTwo(recorded);
    for (boolean isClean : List.of(false, true)) {
      try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
        provider.then(isClean ? provider.endsAfter(events) : provider.breaksOff(events));

        String message = failed(provider).getMessage();

        assertTrue(message.contains("ended prematurely"), message);
        assertEquals(List.of("one ", "two "), provider.receivedText);
        assertEquals(1, provider.requests().size());
      }
    }
  }

  @ParameterizedTest
  @EnumSource(value = Recorded.class, mode = EnumSource.Mode.EXCLUDE, names = "STRUCTURED")
  void callsOfAnIncompleteStreamAreNotMade(Recorded recorded) throws Exception {
    List<String> all =
        recorded.answers.calls("", List.of(new Recorded.Call("id_1", "drop", "{\"a\":1}")));
    for (int length = 1; length < all.size(); length++) {
      List<String> events = all.subList(0, length);
      boolean isWhole = String.join("", events).matches("(?s).*(_reason\":\"|finishReason).*");
      if (!isWhole) {
        try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
          provider.then(provider.endsAfter(events));

          BridgeException failure = failed(provider);

          assertEquals(ErrorCode.UPSTREAM_PROTOCOL_ERROR, failure.code(), events.toString());
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Recorded.class)
  void connectionLostBeforeAnyEventIsRetried(Recorded recorded) throws Exception {
    List<EchoApi.Script> breaks =
        List.of(
            (request, peer) -> false,
            (request, peer) -> {
              peer.out().write("HTTP/1.1 200 OK\r\ncontent-".getBytes());
              peer.out().flush();
              return false;
            });
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      provider
          .then(breaks.get(0), breaks.get(1), provider.breaksOff(List.of("")))
          .then(recorded.answers.text(WORDS));

      ModelReply modelReply = provider.ask("hello");

      assertEquals("one two three", modelReply.text());
      assertEquals("one two three", String.join("", provider.receivedText));
      assertEquals(4, provider.requests().size());
      assertEquals(3, provider.waits.size());
    }
  }

  @ParameterizedTest
  @EnumSource(Recorded.class)
  void keyIsRemovedFromErrorsThatEchoIt(Recorded recorded) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      String sentence = "Incorrect API key provided: " + ScriptedProvider.KEY + ".";
      provider.then(
          provider.fails(401, sentence),
          provider.fails(500, sentence, "retry-after-ms", "1"),
          EchoApi.respondWith(200, "text/html", sentence));
      if (recorded.answers.isStream()) {
        provider.then(List.of(recorded.answers.failure(sentence)));
      }

      for (int i = 0; i < (recorded.answers.isStream() ? 3 : 2); i++) {
        String message = failed(provider).getMessage();
        assertTrue(message.contains("Incorrect API key provided: "), message);
      }
      provider.reasons.forEach(why -> assertFalse(why.contains(ScriptedProvider.KEY), why));
    }
  }

  @ParameterizedTest
  @EnumSource(Recorded.class)
  void keyThatIsInvalidInAHeaderIsRejectedAndNotShown(Recorded recorded) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      provider.then(recorded.answers.text(WORDS));
      provider.model =
          provider.model("", "sk-\n" + ScriptedProvider.KEY, Duration.ofSeconds(10), 0);

      String message = failed(provider).getMessage();

      assertTrue(message.contains("key"), message);
      assertEquals(0, provider.requests().size());
    }
  }

  @ParameterizedTest
  @EnumSource(Recorded.class)
  void refusedConnectionIsReportedAtOnce(Recorded recorded) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      // Given
      URI unusedAddress = URI.create("http://127.0.0.1:1");
      provider.model =
          recorded.provider.at(
              new ModelEndpoint(
                  unusedAddress, ScriptedProvider.KEY, "a-model", Duration.ofSeconds(10), 0));

      // When
      BridgeException failure = failed(provider);

      // Then
      assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure.code());
      assertEquals(List.of(), provider.waits);
    }
  }
}
