package dev.mcpbridge.llm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses of the models that stream them. */
@ParameterizedClass
@EnumSource(value = Recorded.class, mode = EnumSource.Mode.EXCLUDE, names = "STRUCTURED")
@Timeout(60)
class ModelStreamsTest extends ModelScenarios {
  private static final List<String> WORDS = List.of("one ", "two ", "three");

  @Test
  void textArrivesBeforeTheReplyEnds() throws Exception {
    // Given
    byte[] before = joined(upTo("one "));
    byte[] all = joined(recorded.answers.text(WORDS));
    CountDownLatch received = new CountDownLatch(1);
    AtomicBoolean arrivedEarly = new AtomicBoolean();
    provider.then(
        (request, peer) -> {
          peer.out().write(provider.head("content-length: " + all.length));
          peer.out().write(before);
          peer.out().flush();
          arrivedEarly.set(await(received));
          peer.out().write(all, before.length, all.length - before.length);
          peer.out().flush();
          return true;
        });

    // When
    ModelReply modelReply = provider.once(more -> received.countDown());

    // Then
    assertTrue(arrivedEarly.get(), "the first text did not arrive before the second was sent");
    assertEquals("one two three", modelReply.text());
  }

  private static byte[] joined(List<String> pieces) {
    return String.join("", pieces).getBytes(StandardCharsets.UTF_8);
  }

  private static boolean await(CountDownLatch latch) {
    try {
      return latch.await(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }

  @Test
  void parallelCallsInFragmentsKeepOrderAndEveryDigit() throws Exception {
    // Given
    provider.then(
        recorded.answers.calls(
            "I look.",
            List.of(
                new Recorded.Call("id_1", "one", ModelRepliesTest.ARGUMENTS),
                new Recorded.Call("id_2", "two", ""),
                new Recorded.Call("id_3", "one", "{}"))));

    // When
    ModelReply modelReply = provider.ask("do");

    // Then
    assertEquals("I look.", modelReply.text());
    assertEquals(List.of("I look."), provider.receivedText);
    assertEquals(
        List.of("id_1 one " + ModelRepliesTest.ARGUMENTS, "id_2 two {}", "id_3 one {}"),
        modelReply.calls().stream()
            .map(
                call ->
                    call.id() + " " + call.name() + " " + ModelRepliesTest.exact(call.arguments()))
            .toList());
    assertEquals(new ModelReply.Usage(11, 7), modelReply.usage());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void errorWithinAStreamEndsItWithoutARetry(boolean isJson) throws Exception {
    List<String> pieces = new ArrayList<>(upTo("two "));
    pieces.add(isJson ? recorded.answers.failure("Overloaded.") : "data: {\"a\":\n\n");
    provider.then(pieces);

    String message = failed().getMessage();

    assertTrue(
        message.contains(isJson ? "failed: Overloaded." : "did not return a JSON object"), message);
    assertEquals(List.of("one ", "two "), provider.receivedText);
    assertEquals(1, provider.requests().size());
  }

  /** The events of a text up to the one that contains this word. */
  private List<String> upTo(String word) {
    List<String> all = recorded.answers.text(WORDS);
    int last =
        IntStream.range(0, all.size())
            .filter(i -> all.get(i).contains("\"" + word + "\""))
            .findFirst()
            .orElseThrow();
    return all.subList(0, last + 1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void incompleteStreamIsAnErrorWithoutARetry(boolean isClean) throws Exception {
    List<String> events = upTo("two ");
    provider.then(isClean ? provider.endsAfter(events) : provider.breaksOff(events));

    String message = failed().getMessage();

    assertTrue(message.contains("ended prematurely"), message);
    assertEquals(List.of("one ", "two "), provider.receivedText);
    assertEquals(1, provider.requests().size());
  }

  @Test
  void callsOfAnIncompleteStreamAreNotMade() throws Exception {
    List<String> all =
        recorded.answers.calls("", List.of(new Recorded.Call("id_1", "drop", "{\"a\":1}")));
    for (int length = 1; length < all.size(); length++) {
      List<String> events = all.subList(0, length);
      boolean isWhole = String.join("", events).matches("(?s).*(_reason\":\"|finishReason).*");
      if (!isWhole) {
        provider.then(provider.endsAfter(events));

        BridgeException failure = failed();

        assertEquals(ErrorCode.UPSTREAM_PROTOCOL_ERROR, failure.code(), events.toString());
      }
    }
  }
}
