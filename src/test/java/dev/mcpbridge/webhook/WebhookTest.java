package dev.mcpbridge.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.WebhookConfig;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.fixture.NoticeReceiver;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.metrics.MetricsPage;
import dev.mcpbridge.model.Notice;
import dev.mcpbridge.protocol.JsonSlice;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpServer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WebhookTest {
  private static final int END = 20_000;

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final HttpClient client = vertx.createHttpClient();
  private final Counts counts = new Counts();
  private Webhook opened;

  @AfterEach
  void close() throws Exception {
    if (opened != null) {
      onEventLoop(opened::close);
    }
    vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  private static Notice notice(String source) {
    return new Notice(
        Notice.Type.CONFIRMATION_PENDING,
        source,
        JsonSlice.of("{\"source\":\"" + source + "\"}"),
        null);
  }

  private Webhook to(String url) {
    return to(url, Webhook.Attempts.STANDARD);
  }

  private Webhook to(String url, Webhook.Attempts attempts) {
    opened =
        new Webhook(
            vertx,
            client,
            new WebhookConfig(
                URI.create(url),
                List.of(new WebhookConfig.SigningKey(new byte[24])),
                Set.copyOf(Notice.Type.apiNames()),
                false,
                Map.of()),
            attempts,
            counts);
    return opened;
  }

  private void onEventLoop(Runnable task) throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    context.runOnContext(
        v -> {
          task.run();
          done.complete(null);
        });
    done.get(10, TimeUnit.SECONDS);
  }

  private int undelivered(Webhook webhook) throws Exception {
    AtomicInteger found = new AtomicInteger();
    onEventLoop(() -> found.set(webhook.undelivered()));
    return found.get();
  }

  @Test
  void aSourceThatFillsTheQueueLeavesHalfOfItToTheOthers() throws Exception {
    try (NoticeReceiver receiver = new NoticeReceiver().hanging()) {
      Webhook webhook = to(receiver.url());

      onEventLoop(
          () -> {
            for (int i = 0; i < 2_000; i++) {
              webhook.send(notice("greedy"));
            }
            webhook.send(notice("modest"));
          });

      assertEquals(Webhook.MAX_UNDELIVERED / 2 + 1, undelivered(webhook));
    }
  }

  /** The example of the specification's reference libraries. */
  @Test
  void theSignatureIsThatOfTheReference() {
    WebhookConfig.SigningKey key =
        new WebhookConfig.SigningKey(
            Base64.getDecoder().decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));

    String signature =
        Signatures.of(
            List.of(key),
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            "{\"test\": 2432232314}".getBytes(StandardCharsets.UTF_8));

    assertEquals("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", signature);
  }

  @Test
  void anEndlessAnswerIsTakenByItsStatus() throws Exception {
    HttpServer server =
        vertx
            .createHttpServer()
            .requestHandler(
                request -> {
                  request.response().setChunked(true).write("x");
                  vertx.setPeriodic(10, t -> request.response().write("x".repeat(1_000)));
                })
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(10, TimeUnit.SECONDS);
    Webhook webhook = to("http://127.0.0.1:" + server.actualPort());

    onEventLoop(() -> webhook.send(notice("a")));

    awaitSettled(webhook);
    assertEquals(List.of(1L, 0L, 0L), counted("delivered", "retried", "failed"));
  }

  private void awaitSettled(Webhook webhook) {
    await(() -> undelivered(webhook) == 0);
  }

  private static void await(Callable<Boolean> condition) {
    assertTimeoutPreemptively(
        Duration.ofSeconds(10),
        () -> {
          while (!condition.call()) {
            Thread.onSpinWait();
          }
        });
  }

  private List<Long> counted(String... outcomes) {
    String page =
        new String(
            MetricsPage.write(
                    null, counts, server -> true, 0, List.of(), null, new MetricSnapshots())
                .body(),
            StandardCharsets.UTF_8);
    return Stream.of(outcomes)
        .map(
            outcome ->
                MetricsText.values(
                        page, "mcp_bridge_webhook_notices_total{outcome=\"" + outcome + "\"}")
                    .mapToLong(value -> (long) value)
                    .sum())
        .toList();
  }

  @Test
  void aNoticeHasFailedAfterTheLastAttempt() throws Exception {
    try (NoticeReceiver receiver = new NoticeReceiver().answering(500, 500, 500)) {
      Webhook webhook = to(receiver.url(), new Webhook.Attempts(10_000, List.of(1L, 1L), END));

      onEventLoop(() -> webhook.send(notice("a")));

      awaitSettled(webhook);
      assertEquals(List.of(0L, 2L, 1L), counted("delivered", "retried", "failed"));
      assertEquals(3, receiver.all().size());
      assertEquals(1, receiver.all().stream().map(NoticeReceiver.Received::id).distinct().count());
    }
  }

  @Test
  void anAttemptWithoutAnAnswerEndsAtItsTimeLimit() throws Exception {
    try (NoticeReceiver receiver = new NoticeReceiver().hanging();
        CapturedLog log = new CapturedLog()) {
      Webhook webhook = to(receiver.url(), new Webhook.Attempts(100, List.of(1L), END));

      onEventLoop(() -> webhook.send(notice("a")));

      awaitSettled(webhook);
      assertEquals(List.of(0L, 1L, 1L), counted("delivered", "retried", "failed"));
      String lines = String.join("\n", log.lines());
      assertTrue(lines.contains("state=failing reason=no answer within 100 ms"), lines);
    }
  }

  @Test
  void aReceiverThatIsAbsentGetsTheNoticeWhenItIsThere() throws Exception {
    int port;
    try (NoticeReceiver gone = new NoticeReceiver()) {
      port = URI.create(gone.url()).getPort();
    }
    try (CapturedLog log = new CapturedLog()) {
      Webhook webhook =
          to(
              "http://127.0.0.1:" + port + "/hook",
              new Webhook.Attempts(10_000, Collections.nCopies(500, 10L), END));

      onEventLoop(() -> webhook.send(notice("a")));
      await(() -> counted("retried").get(0) > 0);
      try (NoticeReceiver receiver = new NoticeReceiver(port)) {
        awaitSettled(webhook);

        assertEquals(1, receiver.all().size());
        assertEquals(List.of(1L, 0L), counted("delivered", "failed"));
        String lines = String.join("\n", log.lines());
        assertTrue(lines.contains("state=failing reason=Connection refused"), lines);
        assertTrue(lines.contains("state=delivering"), lines);
      }
    }
  }

  @Test
  void whatIsDueIsSentBeforeTheEndAndNothingAfterIt() throws Exception {
    try (NoticeReceiver receiver = new NoticeReceiver()) {
      // Given
      Webhook webhook = to(receiver.url());
      CompletableFuture<Void> closed = new CompletableFuture<>();

      // When
      onEventLoop(
          () -> {
            for (int i = 0; i < 3 * Webhook.AT_ONCE; i++) {
              webhook.send(notice("a"));
            }
            webhook.close().onComplete(end -> closed.complete(null));
            webhook.send(notice("late"));
          });

      // Then
      closed.get(10, TimeUnit.SECONDS);
      assertEquals(List.of(3L * Webhook.AT_ONCE), counted("delivered"));
      assertFalse(
          receiver.all().stream().anyMatch(notice -> notice.at("/data/source").equals("late")));
    }
  }

  /** Sends notices, begins the end in the same turn of the event loop, and waits for it. */
  private void sendAndClose(Webhook webhook, int notices, String source) throws Exception {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    onEventLoop(
        () -> {
          for (int i = 0; i < notices; i++) {
            webhook.send(notice(source));
          }
          webhook.close().onComplete(end -> closed.complete(null));
        });
    closed.get(10, TimeUnit.SECONDS);
  }

  @Test
  void theEndWaitsForNoFurtherAttempt() throws Exception {
    try (NoticeReceiver receiver = new NoticeReceiver().answering(500, 500);
        CapturedLog log = new CapturedLog()) {
      // Given
      Webhook webhook = to(receiver.url(), new Webhook.Attempts(10_000, List.of(60_000L), END));
      onEventLoop(() -> webhook.send(notice("a")));
      await(() -> counted("retried").get(0) == 1);

      // When
      sendAndClose(webhook, 1, "b");

      // Then
      assertEquals(List.of(1L), counted("retried"));
      assertEquals(2, receiver.all().size());
      assertTrue(String.join("\n", log.lines()).contains("state=closed undelivered=2"));
    }
  }

  @Test
  void theEndDoesNotWaitLongForAReceiverThatHangs() throws Exception {
    try (NoticeReceiver receiver = new NoticeReceiver().hanging();
        CapturedLog log = new CapturedLog()) {
      // Given
      Webhook webhook = to(receiver.url(), new Webhook.Attempts(60_000, List.of(), 50));

      // When
      sendAndClose(webhook, 1, "a");

      // Then
      assertTrue(String.join("\n", log.lines()).contains("state=closed undelivered=1"));
    }
  }

  @Test
  void aReceiverThatIsGoneEndsTheEnd() throws Exception {
    try (NoticeReceiver receiver = new NoticeReceiver().answering(410, 410, 410, 410)) {
      // Given
      Webhook webhook = to(receiver.url(), new Webhook.Attempts(10_000, List.of(), END));

      // When
      sendAndClose(webhook, 3 * Webhook.AT_ONCE, "a");

      // Then
      assertEquals(Webhook.AT_ONCE, receiver.all().size());
    }
  }
}
