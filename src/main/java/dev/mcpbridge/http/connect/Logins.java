package dev.mcpbridge.http.connect;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.UserLogin;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import java.util.concurrent.TimeUnit;

/**
 * Logins of users that have begun at the page of a ticket. A login is valid once, in the browser
 * where it began. Confined to the event loop.
 */
record Logins(CredentialStore store) {
  private static final long LIFETIME_MILLIS = TimeUnit.MINUTES.toMillis(10);

  /**
   * The form with which a login began.
   *
   * @param ticket the secret of the link to its page
   * @param token differs for forms that ask for something else
   * @param credential that the user has entered; null for none
   */
  record Form(String ticket, String token, String credential) {}

  /** A user who has logged in. */
  record LoggedIn(String principal, Form form) {}

  /**
   * Begins a login.
   *
   * @return the URL at the issuer
   */
  Future<String> begin(UserLogin login, String redirectUri, Form form, String browser) {
    String ticket = form.ticket();
    UserLogin.Attempt attempt = UserLogin.Attempt.at(redirectUri, digest(ticket) + '.');
    String kept =
        Json.object()
            .put("ticket", ticket)
            .put("formToken", form.token())
            .put("credential", form.credential())
            .put("browser", digest(browser))
            .put("state", attempt.state())
            .put("nonce", attempt.nonce())
            .put("verifier", attempt.verifier())
            .put("redirectUri", attempt.redirectUri())
            .toString();
    return login
        .begin(attempt)
        .compose(url -> store.put(name(attempt.state()), kept, LIFETIME_MILLIS).map(url));
  }

  /**
   * Completes a login. Absent parameters are null.
   *
   * @return fails with MALFORMED_REQUEST for an answer to no login of this browser
   */
  Future<LoggedIn> complete(
      UserLogin login, String state, String code, String issuer, String browser) {
    String name = name(String.valueOf(state));
    return store
        .get(name)
        .compose(
            secret -> {
              JsonNode kept = secret.isPresent() ? Json.parsed(secret.text()) : null;
              if (kept == null
                  || browser == null
                  || !kept.path("state").asText().equals(state)
                  || !kept.path("browser").asText().equals(digest(browser))) {
                return Future.failedFuture(foreign());
              }
              return store
                  .remove(name, secret.version())
                  .compose(
                      isMine ->
                          isMine
                              ? login.principal(attempt(kept), code, issuer)
                              : Future.failedFuture(foreign()))
                  .map(principal -> loggedIn(principal, kept));
            });
  }

  private static LoggedIn loggedIn(String principal, JsonNode kept) {
    return new LoggedIn(
        principal,
        new Form(
            kept.path("ticket").asText(),
            kept.path("formToken").asText(),
            kept.path("credential").textValue()));
  }

  private static UserLogin.Attempt attempt(JsonNode kept) {
    return new UserLogin.Attempt(
        kept.path("state").asText(),
        kept.path("nonce").asText(),
        kept.path("verifier").asText(),
        kept.path("redirectUri").asText());
  }

  private static BridgeException foreign() {
    return new BridgeException(
        ErrorCode.MALFORMED_REQUEST, "This answer belongs to no login that began in this browser");
  }

  /** A ticket has one login, the last one, so that no caller can fill the store with them. */
  private static String name(String state) {
    return "login " + state.split("\\.")[0];
  }

  private static String digest(String secret) {
    return Sha256.of(secret).hex();
  }
}
