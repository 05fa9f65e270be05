package dev.mcpbridge.auth;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jose.jwk.JWKSet;
import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * One issuer: verifies its JWTs with its keys, and asks it about other tokens. A token that cannot
 * be checked is not refused, but fails with ISSUER_UNAVAILABLE: a client would log in again
 * otherwise. Confined to the event loop.
 */
final class TokenIssuer {
  private static final Logger LOG = System.getLogger(TokenIssuer.class.getName());
  private static final long RETRY_MILLIS = 5_000;

  private final AuthConfig.Issuer config;
  private final IssuerClient client;
  private final IssuerMetadata metadata;
  private final IssuerKeys keys;
  private String lastTrouble;

  /**
   * @param onNewKeys called when the issuer has other keys than before
   */
  TokenIssuer(Vertx vertx, AuthConfig.Issuer config, Runnable onNewKeys) {
    this.config = config;
    this.client = new IssuerClient(vertx, config);
    LongSupplier clock = () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
    this.metadata = new IssuerMetadata(config, client::get, clock);
    this.keys =
        new IssuerKeys(
            () -> metadata.keys().onComplete(this::noteTrouble),
            config.staleKeysMillis(),
            clock,
            onNewKeys);
  }

  AuthConfig.Issuer config() {
    return config;
  }

  boolean isUnavailable() {
    return lastTrouble != null;
  }

  /** Verifies a token that names this issuer. */
  Future<Identity> verify(SignedToken token) {
    return keys.with(token.keyId())
        .recover(unreachable -> Future.failedFuture(unavailable()))
        .compose(known -> verify(token, known));
  }

  /** A signature by a key without a name may be by a newer key than the known ones. */
  private Future<Identity> verify(SignedToken token, JWKSet known) {
    Future<JWKSet> fitting =
        token.keyId() == null && !token.isSignedBy(known)
            ? keys.newerThan(known).otherwise(known)
            : Future.succeededFuture(known);
    return fitting.map(found -> token.verify(found, config, System.currentTimeMillis()));
  }

  /** A URL of the issuer's metadata. */
  Future<String> endpoint(String member) {
    return metadata.url(member).onComplete(this::noteTrouble);
  }

  /**
   * Checks the issuer that an authorization answer names (RFC 9207 section 2.4).
   *
   * @param iss null if it names none, which is accepted unless the issuer promises to name itself
   */
  Future<Boolean> isOwnAnswer(String iss) {
    return iss == null
        ? metadata.isNamedInAnswers().map(isNamed -> !isNamed)
        : Future.succeededFuture(iss.equals(config.issuer()));
  }

  /**
   * Redeems an authorization code.
   *
   * @return the subject of the ID token
   */
  Future<String> idToken(AuthConfig.Client self, MultiMap form, String nonce) {
    return endpoint("token_endpoint")
        .compose(url -> client.post(url, self, form))
        .map(answer -> SignedToken.parse(answer.json().path("id_token").asText()))
        .compose(
            token ->
                keys.with(token.keyId())
                    .map(
                        known ->
                            token.verifyLogin(
                                known,
                                config,
                                self.clientId(),
                                nonce,
                                System.currentTimeMillis())));
  }

  /**
   * Redeems an authorization code for an access token.
   *
   * @return fails with ISSUER_UNAVAILABLE if the issuer does not answer
   */
  Future<String> accessToken(AuthConfig.Client self, MultiMap form) {
    return endpoint("token_endpoint")
        .recover(unreachable -> Future.failedFuture(unavailable()))
        .compose(
            url ->
                client
                    .post(url, self, form)
                    .recover(
                        failure ->
                            Future.failedFuture(
                                failure instanceof IssuerClient.Refused ? failure : unavailable())))
        .compose(
            answer ->
                answer.json().path("access_token").isTextual()
                    ? Future.succeededFuture(answer.json().path("access_token").textValue())
                    : Future.failedFuture(new IOException("the answer has no access token")));
  }

  boolean introspects() {
    return config.introspection() != null;
  }

  /** Asks the issuer about a token (RFC 7662). */
  Future<Identity> introspect(String token) {
    MultiMap form =
        MultiMap.caseInsensitiveMultiMap()
            .add("token", token)
            .add("token_type_hint", "access_token");
    return metadata
        .url("introspection_endpoint")
        .compose(url -> client.post(url, config.introspection(), form))
        .compose(TokenIssuer::activity)
        .onComplete(this::noteTrouble)
        .recover(unreachable -> Future.failedFuture(unavailable()))
        .map(this::identity);
  }

  /** Without {@code active}, the answer says nothing. */
  private static Future<JsonNode> activity(IssuerClient.Answer answer) {
    return answer.json().path("active").isBoolean()
        ? Future.succeededFuture(answer.json())
        : Future.failedFuture(new IOException("an introspection has no member active"));
  }

  private Identity identity(JsonNode answer) {
    if (!answer.path("active").booleanValue()) {
      throw Rejection.INACTIVE.failure();
    }
    TokenClaims claims = new TokenClaims(answer);
    if (claims.isOfAnotherKind()) {
      throw Rejection.WRONG_TYPE.failure();
    }
    if (answer.has("iss") && !config.issuer().equals(claims.text("iss"))) {
      throw Rejection.WRONG_ISSUER.failure();
    }
    claims.checkValidity(config.tokens().clockSkewMillis(), System.currentTimeMillis());
    return claims.identity(config, true);
  }

  /** Logs when the issuer becomes unavailable or available, and not each time. */
  private void noteTrouble(AsyncResult<?> asked) {
    String trouble = asked.succeeded() ? null : String.valueOf(asked.cause().getMessage());
    if (trouble != null && !trouble.equals(lastTrouble)) {
      LOG.log(
          Level.WARNING, "issuer={0} code=issuer_unavailable reason={1}", config.name(), trouble);
    } else if (trouble == null && lastTrouble != null) {
      LOG.log(Level.INFO, "issuer={0} available=true", config.name());
    }
    lastTrouble = trouble;
  }

  BridgeException unavailable() {
    return new BridgeException(
            ErrorCode.ISSUER_UNAVAILABLE,
            "The issuer '" + config.name() + "' cannot be asked about the access token")
        .withRetryAfter(RETRY_MILLIS);
  }
}
