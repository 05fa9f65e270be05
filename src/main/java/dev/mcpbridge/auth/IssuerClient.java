package dev.mcpbridge.auth;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.config.AuthConfig;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.ext.web.client.HttpRequest;
import io.vertx.ext.web.client.HttpResponse;
import java.io.IOException;

/** Requests to an issuer, for JSON of at most 64 KiB. Confined to the event loop. */
final class IssuerClient {
  private static final int MAX_BYTES = 64 << 10;

  private final JsonRequests requests;

  /** An answer with status 200. */
  record Answer(JsonNode json, String cacheControl) {}

  /** The issuer has answered, with another status than 200. */
  static final class Refused extends IOException {
    private static final long serialVersionUID = 1L;

    Refused(int status) {
      super("status " + status);
    }
  }

  IssuerClient(Vertx vertx, AuthConfig.Issuer issuer) {
    this.requests = new JsonRequests(vertx, MAX_BYTES, issuer.trustedCertificates());
  }

  Future<Answer> get(String url) {
    return requests
        .exchange(client -> client.getAbs(url), HttpRequest::send)
        .compose(IssuerClient::answer);
  }

  /** Posts a form, authenticated as a client (RFC 6749 section 2.3.1). */
  Future<Answer> post(String url, AuthConfig.Client self, MultiMap form) {
    String authorization = BasicCredentials.of(self.clientId(), self.clientSecret().reveal());
    return requests
        .exchange(
            client -> client.postAbs(url).putHeader("authorization", authorization),
            request -> request.sendForm(form))
        .compose(IssuerClient::answer);
  }

  private static Future<Answer> answer(HttpResponse<JsonNode> response) {
    return response.statusCode() == 200
        ? Future.succeededFuture(new Answer(response.body(), response.getHeader("cache-control")))
        : Future.failedFuture(new Refused(response.statusCode()));
  }
}
