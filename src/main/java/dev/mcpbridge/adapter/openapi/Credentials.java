package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.adapter.HttpCaller;
import dev.mcpbridge.config.ApiCredential;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.PercentEncoding;
import io.vertx.core.Future;
import io.vertx.core.http.ClientForm;
import io.vertx.core.http.HttpMethod;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Adds credentials to requests; tokens are fetched on demand and cached. Confined. */
final class Credentials {
  private static final int MAX_TOKEN = 64 << 10;
  private static final long MAX_MILLIS = 10_000;
  private static final long MAX_SECONDS = TimeUnit.DAYS.toSeconds(365);
  private static final long MARGIN_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final HttpCaller http;
  private final List<ApiCredential> all;
  private final Map<ApiCredential, Token> tokens = new HashMap<>();

  private record Token(Future<String> value, long untilNanos) {}

  Credentials(HttpCaller http, List<ApiCredential> all) {
    this.http = http;
    this.all = all;
  }

  /**
   * @param own the caller's credential, sent instead of the operator's; null for the operator's
   */
  Future<Void> addTo(ApiRequest request, String own) {
    if (own != null) {
      request.header("authorization", own);
      return Future.succeededFuture();
    }
    return Future.all(all.stream().map(each -> add(each, request)).toList()).mapEmpty();
  }

  /** Drops cached tokens after the API has rejected one; the next call fetches new ones. */
  void invalidateTokens() {
    tokens.clear();
  }

  private Future<Void> add(ApiCredential credential, ApiRequest request) {
    if (credential instanceof ApiCredential.ClientCredentials client) {
      return token(client).map(token -> bearer(request, token));
    }
    if (credential instanceof ApiCredential.Key key) {
      String value = key.value().reveal();
      switch (key.location()) {
        case "query" -> request.query(key.name(), value);
        case "cookie" -> request.cookie(key.name(), PercentEncoding.encoded(value));
        default -> request.header(key.name(), value);
      }
    } else if (credential instanceof ApiCredential.Basic basic) {
      request.header("authorization", basic(basic.user(), basic.password().reveal()));
    } else {
      bearer(request, ((ApiCredential.Bearer) credential).token().reveal());
    }
    return Future.succeededFuture();
  }

  private static Void bearer(ApiRequest request, String token) {
    request.header("authorization", "Bearer " + token);
    return null;
  }

  private Future<String> token(ApiCredential.ClientCredentials client) {
    Token cached = tokens.get(client);
    if (cached != null && cached.untilNanos() - System.nanoTime() > 0) {
      return cached.value();
    }
    Future<String> value = fetch(client);
    tokens.put(client, new Token(value, System.nanoTime() + MARGIN_NANOS));
    return value.onFailure(failed -> tokens.remove(client));
  }

  private Future<String> fetch(ApiCredential.ClientCredentials client) {
    ClientForm form = ClientForm.form().attribute("grant_type", "client_credentials");
    if (client.scope() != null) {
      form.attribute("scope", client.scope());
    }
    return http.send(
            HttpMethod.POST,
            client.tokenUrl(),
            MAX_TOKEN,
            request -> {
              request.putHeader("accept", "application/json");
              request.putHeader(
                  "authorization", basic(client.clientId(), client.clientSecret().reveal()));
              return request.send(form);
            })
        .withTimeout(MAX_MILLIS)
        .response()
        .map(response -> read(client, response))
        .recover(failure -> Future.failedFuture(noToken(failure.getMessage())));
  }

  /** A call that failed before the API was called. */
  private static BridgeException noToken(String reason) {
    return new BridgeException(ErrorCode.UPSTREAM_ERROR, "No token for the API: " + reason);
  }

  /** RFC 6749 appendix A.12, except the space, which ends a token in a header. */
  private static boolean isToken(String text) {
    return !text.isEmpty() && text.chars().allMatch(c -> c > 0x20 && c < 0x7F);
  }

  /** Errors do not include the response of the token server: it may contain secrets. */
  private String read(ApiCredential.ClientCredentials client, HttpCaller.Response response) {
    try {
      var json = Json.mapper().readTree(response.body().getBytes());
      String token = json.path("access_token").asText("");
      if (response.status() == 200 && isToken(token)) {
        long seconds = Math.max(0, Math.min(json.path("expires_in").asLong(300), MAX_SECONDS));
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds) - MARGIN_NANOS;
        tokens.put(client, new Token(Future.succeededFuture(token), until));
        return token;
      }
    } catch (IOException | NumberFormatException e) {
      // reported below
    }
    throw new BridgeException(
        ErrorCode.UPSTREAM_ERROR,
        "the token server returned no valid token, with status " + response.status());
  }

  private static String basic(String user, String password) {
    byte[] pair = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(pair);
  }
}
