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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Timeouts and interrupts while a provider sends nothing. */
@ParameterizedClass
@EnumSource(Recorded.class)
@Timeout(60)
class ModelSilenceTest extends ModelScenarios {

  /** What is sent before the silence: nothing for null, the head, and a part of the body. */
  private String sent(String stage) {
    String all = String.join("", recorded.answers.text(List.of("one ", "two ")));
    return "part".equals(stage) ? all.substring(0, all.indexOf("two")) : stage;
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "part"})
  void silentProviderTimesOutWithoutARetry(String stage) throws Exception {
    // Given
    provider.then(provider.fallsSilent(new CountDownLatch(1), sent(stage)));
    provider.model = provider.model("", ScriptedProvider.KEY, Duration.ofMillis(500), 0);

    // When
    BridgeException failure = failed();

    // Then
    assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure.code());
    assertEquals(1, provider.requests().size());
    assertTrue(provider.disconnected.await(5, TimeUnit.SECONDS), "the connection is still open");
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "part"})
  void interruptEndsAReplyAndItsConnection(String stage) throws Exception {
    // Given
    CountDownLatch silent = new CountDownLatch(1);
    provider
        .then(provider.fallsSilent(silent, sent(stage)))
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

  @Test
  void replyOnAnInterruptedThreadFails() throws Exception {
    provider.then(provider.fallsSilent(new CountDownLatch(1), null));

    Thread.currentThread().interrupt();

    assertThrows(InterruptedException.class, () -> provider.ask("hello"));
  }
}
