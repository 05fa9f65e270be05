package dev.mcpbridge.webhook;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.config.WebhookConfig;
import dev.mcpbridge.model.Notice;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.PoolOptions;
import java.util.List;

/** Takes the notices of this node from the bus. Deployed only if webhooks are configured. */
public final class WebhookVerticle extends VerticleBase {
  private final Bus bus;
  private final List<WebhookConfig> configs;
  private List<Webhook> webhooks = List.of();

  public WebhookVerticle(Bus bus, List<WebhookConfig> configs) {
    this.bus = bus;
    this.configs = configs;
  }

  @Override
  public Future<?> start() {
    webhooks = configs.stream().map(this::webhook).toList();
    bus.serve(Addresses.NOTICES, this::take);
    return Future.succeededFuture();
  }

  /** Each has connections of its own: a receiver that hangs may share its host with others. */
  private Webhook webhook(WebhookConfig config) {
    HttpClient client =
        vertx.createHttpClient(
            new HttpClientOptions(), new PoolOptions().setHttp1MaxSize(Webhook.AT_ONCE));
    return new Webhook(vertx, client, config, Webhook.Attempts.STANDARD, bus.telemetry().counts());
  }

  /** Sends what is due, which has the last checkpoint of the audit trail. */
  @Override
  public Future<?> stop() {
    return Future.join(webhooks.stream().map(Webhook::close).toList());
  }

  private Future<Void> take(Notice notice) {
    webhooks.forEach(webhook -> webhook.send(notice));
    return Future.succeededFuture();
  }
}
