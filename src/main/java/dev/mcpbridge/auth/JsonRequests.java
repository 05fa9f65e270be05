package dev.mcpbridge.auth;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.limit.TimeLimit;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.ext.web.client.HttpRequest;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import java.nio.file.Path;
import java.util.function.Function;

/**
 * Requests for JSON of bounded size within five seconds, without redirects. Each has a client of
 * its own, since closing it is the only way to end a request early. Confined to the event loop.
 */
public final class JsonRequests {
  public static final int TIMEOUT_MILLIS = 5_000;

  private final Vertx vertx;
  private final int maxBytes;
  private final WebClientOptions options;

  /**
   * @param trustedCertificates PEM file; null for those of the JDK
   */
  public JsonRequests(Vertx vertx, int maxBytes, Path trustedCertificates) {
    this.vertx = vertx;
    this.maxBytes = maxBytes;
    this.options =
        new WebClientOptions()
            .setUserAgentEnabled(false)
            .setFollowRedirects(false)
            .setConnectTimeout(TIMEOUT_MILLIS);
    if (trustedCertificates != null) {
      options.setTrustOptions(new PemTrustOptions().addCertPath(trustedCertificates.toString()));
    }
  }

  /** Sends a request. The response may have any status; its body is JSON. */
  public Future<HttpResponse<JsonNode>> exchange(
      Function<WebClient, HttpRequest<Buffer>> request,
      Function<HttpRequest<JsonNode>, Future<HttpResponse<JsonNode>>> send) {
    WebClient client = WebClient.create(vertx, options);
    HttpRequest<JsonNode> prepared =
        request
            .apply(client)
            .putHeader("accept", "application/json")
            .as(() -> new BoundedJson(maxBytes));
    return TimeLimit.of(TIMEOUT_MILLIS, send.apply(prepared)).onComplete(over -> client.close());
  }
}
