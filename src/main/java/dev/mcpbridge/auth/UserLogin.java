package dev.mcpbridge.auth;

import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Principal;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/**
 * The login of users in a browser at an issuer (OpenID Connect Core 1.0 section 3.1, with PKCE). It
 * only proves who uses the browser. Confined to the event loop.
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

  /** Where the browser is sent. */
  public Future<String> begin(Attempt attempt) {
    return issuer
        .endpoint("authorization_endpoint")
        .map(
            endpoint ->
                endpoint
                    + (endpoint.contains("?") ? "&" : "?")
                    + "response_type=code&scope=openid&client_id="
                    + encoded(config.client().clientId())
                    + "&redirect_uri="
                    + encoded(attempt.redirectUri())
                    + "&state="
                    + attempt.state()
                    + "&nonce="
                    + attempt.nonce()
                    + "&code_challenge_method=S256&code_challenge="
                    + Pkce.challenge(attempt.verifier()))
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
    if (code == null || iss != null && !iss.equals(issuer.config().issuer())) {
      return Future.failedFuture(unproved());
    }
    MultiMap form =
        MultiMap.caseInsensitiveMultiMap()
            .add("grant_type", "authorization_code")
            .add("code", code)
            .add("redirect_uri", attempt.redirectUri())
            .add("code_verifier", attempt.verifier());
    return issuer
        .idToken(config.client(), form, attempt.nonce())
        .map(subject -> Principal.nameOf(config.issuer(), subject))
        .recover(failure -> Future.failedFuture(unproved()));
  }

  private static BridgeException unproved() {
    return new BridgeException(ErrorCode.FORBIDDEN, "The login did not succeed");
  }
}
