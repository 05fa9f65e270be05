package dev.mcpbridge.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.mcpbridge.config.WebhookConfig;
import dev.mcpbridge.fixture.NoticeReceiver;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.Notice;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpServer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WebhookTest {
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

    assertTimeoutPreemptively(
        Duration.ofSeconds(5),
        () -> {
          while (undelivered(webhook) > 0) {
            Thread.onSpinWait();
          }
        });
  }
}
