package dev.mcpbridge.auth;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.config.AuthConfig;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.ext.web.client.HttpRequest;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Requests to an issuer, for JSON of at most 64 KiB within five seconds, without redirects. Each
 * request has a client of its own, since closing it is the only way to end a request early.
 * Confined to the event loop.
 */
final class IssuerClient {
  private static final int MAX_BYTES = 64 << 10;
  private static final int TIMEOUT_MILLIS = 5_000;

  private final Vertx vertx;
  private final WebClientOptions options;

  /** An answer with status 200. */
  record Answer(JsonNode json, String cacheControl) {}

  IssuerClient(Vertx vertx, AuthConfig.Issuer issuer) {
    this.vertx = vertx;
    this.options =
        new WebClientOptions()
            .setUserAgentEnabled(false)
            .setFollowRedirects(false)
            .setConnectTimeout(TIMEOUT_MILLIS);
    if (issuer.trustedCertificates() != null) {
      options.setTrustOptions(
          new PemTrustOptions().addCertPath(issuer.trustedCertificates().toString()));
    }
  }

  Future<Answer> get(String url) {
    return exchange(client -> client.getAbs(url), HttpRequest::send);
  }

  /** Posts a form, authenticated as a client (RFC 6749 section 2.3.1). */
  Future<Answer> post(String url, AuthConfig.Client self, MultiMap form) {
    String secret = encoded(self.clientSecret().reveal());
    return exchange(
        client -> client.postAbs(url).basicAuthentication(encoded(self.clientId()), secret),
        request -> request.sendForm(form));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private Future<Answer> exchange(
      Function<WebClient, HttpRequest<Buffer>> request,
      Function<HttpRequest<JsonNode>, Future<HttpResponse<JsonNode>>> send) {
    WebClient client = WebClient.create(vertx, options);
    HttpRequest<JsonNode> prepared =
        request
            .apply(client)
            .putHeader("accept", "application/json")
            .as(() -> new BoundedJson(MAX_BYTES));
    return send.apply(prepared)
        .timeout(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)
        .onComplete(over -> client.close())
        .compose(IssuerClient::answer);
  }

  private static Future<Answer> answer(HttpResponse<JsonNode> response) {
    return response.statusCode() == 200
        ? Future.succeededFuture(new Answer(response.body(), response.getHeader("cache-control")))
        : Future.failedFuture(new IOException("status " + response.statusCode()));
  }
}
