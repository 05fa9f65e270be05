package dev.mcpbridge.llm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Timeouts and interrupts while a provider sends nothing. */
@Timeout(60)
class ModelSilenceTest {

  /** What is sent before the silence: nothing, the head, and a part of the body. */
  private static Stream<Arguments> stages() {
    return Stream.of(Recorded.values())
        .flatMap(
            recorded ->
                Stream.of(null, "", firstPart(recorded)).map(sent -> Arguments.of(recorded, sent)));
  }

  private static String firstPart(Recorded recorded) {
    String all = String.join("", recorded.answers.text(List.of("one ", "two ")));
    return all.substring(0, all.indexOf("two"));
  }

  @ParameterizedTest
  @MethodSource("stages")
  void silentProviderTimesOutWithoutARetry(Recorded recorded, String sent) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      // Given
      provider.then(provider.fallsSilent(new CountDownLatch(1), sent));
      provider.model = provider.model("", ScriptedProvider.KEY, Duration.ofMillis(500), 0);

      // When
      BridgeException failure = assertThrows(BridgeException.class, () -> provider.ask("hello"));

      // Then
      assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure.code());
      assertEquals(1, provider.requests().size());
      assertTrue(provider.disconnected.await(5, TimeUnit.SECONDS), "the connection is still open");
    }
  }

  @ParameterizedTest
  @MethodSource("stages")
  void interruptEndsAReplyAndItsConnection(Recorded recorded, String sent) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      // Given
      CountDownLatch silent = new CountDownLatch(1);
      provider
          .then(provider.fallsSilent(silent, sent))
          .then(recorded.answers.text(List.of("again")));
      FutureTask<ModelReply> reply = new FutureTask<>(() -> provider.ask("hello"));
      Thread thread = new Thread(reply);
      thread.start();
      assertTrue(silent.await(5, TimeUnit.SECONDS), "no request was sent");

      // When
      thread.interrupt();

      // Then
      ExecutionException end =
          assertThrows(ExecutionException.class, () -> reply.get(5, TimeUnit.SECONDS));
      assertInstanceOf(InterruptedException.class, end.getCause());
      assertTrue(provider.disconnected.await(5, TimeUnit.SECONDS), "the connection is still open");
      // And the model can be asked again.
      assertEquals("again", provider.ask("hello").text());
    }
  }

  @ParameterizedTest
  @EnumSource(Recorded.class)
  void replyOnAnInterruptedThreadFails(Recorded recorded) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      provider.then(provider.fallsSilent(new CountDownLatch(1), null));

      Thread.currentThread().interrupt();

      assertThrows(InterruptedException.class, () -> provider.ask("hello"));
    }
  }
}
