package dev.mcpbridge.auth;

import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * The login of users in a browser at an issuer (OpenID Connect Core 1.0 section 3.1, with PKCE). It
 * proves who uses the browser, or gives its page an access token. Confined to the event loop.
 */
public final class UserLogin {
  private final AuthConfig.Login config;
  private final TokenIssuer issuer;

  /**
   * A login in progress; its parts are secret.
   *
   * @param state returned by the issuer
   */
  public record Attempt(String state, String nonce, String verifier, String redirectUri) {
    /**
     * @param prefix of the state
     */
    public static Attempt at(String redirectUri, String prefix) {
      return new Attempt(prefix + Pkce.random(), Pkce.random(), Pkce.random(), redirectUri);
    }
  }

  UserLogin(AuthConfig.Login config, TokenIssuer issuer) {
    this.config = config;
    this.issuer = issuer;
  }

  /** Whether a principal can prove who it is. */
  public boolean isFor(String issuerName) {
    return config.issuer().equals(issuerName);
  }

  /** Name of the issuer in the configuration. */
  public String issuerName() {
    return config.issuer();
  }

  /** Where the browser is sent. */
  public Future<String> begin(Attempt attempt) {
    return authorization(
        "openid",
        attempt.redirectUri(),
        attempt.state(),
        Pkce.challenge(attempt.verifier()),
        "&nonce=" + attempt.nonce());
  }

  /**
   * A page that keeps the secrets of its login itself, and gets an access token.
   *
   * @param redirectUri of the page
   * @param resource that the token is for (RFC 8707)
   */
  public record Page(String redirectUri, String resource) {}

  /** Where the browser of a page is sent. */
  public Future<String> begin(Page page, String state, String challenge) {
    return authorization(
        "openid " + String.join(" ", scopes()),
        page.redirectUri(),
        state,
        challenge,
        "&resource=" + encoded(page.resource()));
  }

  private Collection<String> scopes() {
    Map<String, String> names = issuer.config().grants().scopes();
    return config.scopes().isEmpty()
        ? List.of(names.get(Scope.READ.apiName()), names.get(Scope.CALL.apiName()))
        : config.scopes();
  }

  private Future<String> authorization(
      String scope, String redirectUri, String state, String challenge, String more) {
    return issuer
        .endpoint("authorization_endpoint")
        .map(
            endpoint ->
                endpoint
                    + (endpoint.contains("?") ? "&" : "?")
                    + "response_type=code&scope="
                    + encoded(scope)
                    + "&client_id="
                    + encoded(config.client().clientId())
                    + "&redirect_uri="
                    + encoded(redirectUri)
                    + "&state="
                    + encoded(state)
                    + "&code_challenge_method=S256&code_challenge="
                    + encoded(challenge)
                    + more)
        .recover(failure -> Future.failedFuture(issuer.unavailable()));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /**
   * The name of the principal that has logged in.
   *
   * @param code null if the issuer returned none
   * @param iss the issuer that the answer names; null if it names none (RFC 9207)
   * @return fails with FORBIDDEN if the answer proves nothing
   */
  public Future<String> principal(Attempt attempt, String code, String iss) {
    if (code == null) {
      return Future.failedFuture(unproved());
    }
    return ofIssuer(iss)
        .compose(
            own ->
                issuer.idToken(
                    config.client(),
                    form(code, attempt.redirectUri(), attempt.verifier()),
                    attempt.nonce()))
        .map(subject -> Principal.nameOf(config.issuer(), subject))
        .recover(failure -> Future.failedFuture(unproved()));
  }

  /**
   * The access token for a page.
   *
   * @param iss the issuer that the answer names; null if it names none (RFC 9207)
   * @return fails with FORBIDDEN if the issuer gives none, with ISSUER_UNAVAILABLE if it does not
   *     answer
   */
  public Future<String> token(Page page, String code, String verifier, String iss) {
    MultiMap form = form(code, page.redirectUri(), verifier).add("resource", page.resource());
    return ofIssuer(iss)
        .compose(own -> issuer.accessToken(config.client(), form))
        .recover(
            failure ->
                Future.failedFuture(failure instanceof BridgeException ? failure : unproved()));
  }

  /** Fails unless an answer may be by the issuer. */
  private Future<Void> ofIssuer(String iss) {
    return issuer
        .isOwnAnswer(iss)
        .recover(unreachable -> Future.failedFuture(issuer.unavailable()))
        .compose(isOwn -> isOwn ? Future.succeededFuture() : Future.failedFuture(unproved()));
  }

  private static MultiMap form(String code, String redirectUri, String verifier) {
    return MultiMap.caseInsensitiveMultiMap()
        .add("grant_type", "authorization_code")
        .add("code", code)
        .add("redirect_uri", redirectUri)
        .add("code_verifier", verifier);
  }

  private static BridgeException unproved() {
    return new BridgeException(ErrorCode.FORBIDDEN, "The login did not succeed");
  }
}
