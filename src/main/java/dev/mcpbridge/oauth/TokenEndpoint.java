package dev.mcpbridge.oauth;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.BearerToken;
import dev.mcpbridge.config.ClientKey;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Requests to token endpoints (RFC 6749 sections 3.2 and 5). Confined to the event loop. */
final class TokenEndpoint {
  private static final long MAX_SECONDS = TimeUnit.DAYS.toSeconds(365);

  private final GuardedHttp http;
  private final ClientKey key;

  /**
   * @param key of clients that authenticate by signatures; null for no key
   */
  TokenEndpoint(GuardedHttp http, ClientKey key) {
    this.http = http;
    this.key = key;
  }

  /**
   * Tokens of one response.
   *
   * @param refresh null if it is absent
   * @param expiresMillis on the wall clock; {@link Long#MAX_VALUE} if it is unknown
   * @param scopes null if they are those that were requested
   */
  record Tokens(String access, String refresh, long expiresMillis, List<String> scopes) {}

  /** The authorization server refused the request; everything else is another failure. */
  static final class Refused extends IOException {
    private static final long serialVersionUID = 1L;

    private final String code;

    Refused(String code) {
      super("its authorization server refuses a token: " + code);
      this.code = code;
    }

    /** Whether the client is unknown to the authorization server. */
    boolean isClientInvalid() {
      return code.equals("invalid_client") || code.equals("unauthorized_client");
    }

    /** Whether the grant has ended, so that only its user can renew it. */
    boolean isGrantInvalid() {
      return code.equals("invalid_grant");
    }
  }

  Future<Tokens> request(String url, Registration client, MultiMap form) {
    String authorization = client.authenticate(form, key);
    return http.postForm(url, form, authorization)
        .compose(
            answer ->
                answer.status() == 200
                    ? tokens(answer.json())
                    : Future.failedFuture(refusal(answer)));
  }

  /**
   * Requests an assertion, which is presented elsewhere and is no access token (RFC 8693 section
   * 2.2.1).
   *
   * @param type the token type that has to be issued
   */
  Future<String> assertion(String url, Registration client, MultiMap form, String type) {
    String authorization = client.authenticate(form, key);
    return http.postForm(url, form, authorization)
        .compose(
            answer -> {
              String assertion = answer.json().path("access_token").asText();
              if (answer.status() != 200) {
                return Future.failedFuture(refusal(answer));
              }
              return answer.json().path("issued_token_type").asText().equals(type)
                      && answer.json().path("token_type").asText().equalsIgnoreCase("N_A")
                      && BearerToken.isValid(assertion)
                  ? Future.succeededFuture(assertion)
                  : Future.failedFuture(new Refused("another type of token was issued"));
            });
  }

  /** Revokes a grant by its refresh token, or by its access token. */
  Future<Void> revoke(Grant grant) {
    if (grant.terms().revocationEndpoint() == null) {
      return Future.succeededFuture();
    }
    boolean isRefreshable = grant.isRefreshable();
    MultiMap form =
        MultiMap.caseInsensitiveMultiMap()
            .add("token", isRefreshable ? grant.tokens().refresh() : grant.tokens().access())
            .add("token_type_hint", isRefreshable ? "refresh_token" : "access_token");
    String authorization = grant.terms().client().authenticate(form, key);
    return http.postForm(grant.terms().revocationEndpoint(), form, authorization).mapEmpty();
  }

  /** A server that is overloaded or down has refused nothing. */
  private static IOException refusal(GuardedHttp.Answer answer) {
    boolean isLater = answer.status() == 429 || answer.status() >= 500;
    return isLater
        ? new IOException("its authorization server answered " + answer.status())
        : new Refused(error(answer.json()));
  }

  /** An error code, of the characters that RFC 6749 allows. */
  private static String error(JsonNode answer) {
    String code = answer.path("error").asText();
    return code.matches("[\\x21\\x23-\\x5B\\x5D-\\x7E]{1,64}") ? code : "no reason";
  }

  private static Future<Tokens> tokens(JsonNode answer) {
    String access = answer.path("access_token").asText();
    boolean isBearer = answer.path("token_type").asText("bearer").equalsIgnoreCase("bearer");
    if (!isBearer || !BearerToken.isValid(access)) {
      return Future.failedFuture(
          new IOException("its authorization server returned no bearer token"));
    }
    String refresh = answer.path("refresh_token").textValue();
    long seconds = answer.path("expires_in").asLong(0);
    String scope = answer.path("scope").textValue();
    return Future.succeededFuture(
        new Tokens(
            access,
            refresh != null && BearerToken.isValid(refresh) ? refresh : null,
            seconds <= 0 ? Long.MAX_VALUE : millisFromNow(Math.min(seconds, MAX_SECONDS)),
            scope == null || !Challenge.isScope(scope.strip())
                ? null
                : List.of(scope.strip().split(" +"))));
  }

  private static long millisFromNow(long seconds) {
    return System.currentTimeMillis() + TimeUnit.SECONDS.toMillis(seconds);
  }
}
