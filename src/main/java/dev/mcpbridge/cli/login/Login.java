package dev.mcpbridge.cli.login;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.auth.BasicCredentials;
import dev.mcpbridge.protocol.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A login at a bridge: the tokens of its user, and what renews them.
 *
 * @param tokenEndpoint of the authorization server
 * @param revocationEndpoint null if it revokes nothing
 * @param resource identifier of the bridge (RFC 8707)
 * @param client who asked for the tokens
 * @param refresh refresh token; null without one
 * @param expiresMillis on the wall clock; {@link Long#MAX_VALUE} if they do not expire
 */
record Login(
    String tokenEndpoint,
    String revocationEndpoint,
    String resource,
    Client client,
    String access,
    String refresh,
    long expiresMillis) {
  private static final long EARLY_MILLIS = TimeUnit.SECONDS.toMillis(30);
  private static final long MAX_SECONDS = TimeUnit.DAYS.toSeconds(365);

  /**
   * A client of an authorization server.
   *
   * @param secret null for a public client
   * @param usesHeader whether the secret is sent in the header Authorization
   */
  record Client(String id, String secret, boolean usesHeader) {

    /** A form of this client (RFC 6749 section 2.3.1). */
    Map<String, String> form(String grantType) {
      Map<String, String> form = new LinkedHashMap<>();
      if (grantType != null) {
        form.put("grant_type", grantType);
      }
      form.put("client_id", id);
      if (secret != null && !usesHeader) {
        form.put("client_secret", secret);
      }
      return form;
    }

    /** The value of Authorization (RFC 6749 section 2.3.1); null if it has none. */
    String authorization() {
      return secret == null || !usesHeader ? null : BasicCredentials.of(id, secret);
    }
  }

  /**
   * The first tokens of a login.
   *
   * @param tokens response of the token endpoint
   */
  static Login of(BridgeIssuer issuer, Client client, JsonNode tokens) {
    return new Login(
            issuer.endpoint("token_endpoint"),
            issuer.metadata().path("revocation_endpoint").textValue(),
            issuer.resource(),
            client,
            null,
            null,
            0)
        .with(tokens);
  }

  /** With new tokens; the refresh token stays if there is no new one (RFC 6749 section 6). */
  Login with(JsonNode tokens) {
    long seconds = tokens.path("expires_in").asLong(0);
    return new Login(
        tokenEndpoint,
        revocationEndpoint,
        resource,
        client,
        tokens.path("access_token").asText(),
        tokens.path("refresh_token").asText(refresh),
        seconds <= 0
            ? Long.MAX_VALUE
            : System.currentTimeMillis()
                + TimeUnit.SECONDS.toMillis(Math.min(seconds, MAX_SECONDS)));
  }

  boolean isFresh() {
    return System.currentTimeMillis() < expiresMillis - EARLY_MILLIS;
  }

  ObjectNode json() {
    return Json.object()
        .put("tokenEndpoint", tokenEndpoint)
        .put("revocationEndpoint", revocationEndpoint)
        .put("resource", resource)
        .put("clientId", client.id())
        .put("clientSecret", client.secret())
        .put("usesHeader", client.usesHeader())
        .put("access", access)
        .put("refresh", refresh)
        .put("expires", expiresMillis);
  }

  static Login of(JsonNode json) {
    return new Login(
        json.path("tokenEndpoint").asText(),
        json.path("revocationEndpoint").textValue(),
        json.path("resource").asText(),
        new Client(
            json.path("clientId").asText(),
            json.path("clientSecret").textValue(),
            json.path("usesHeader").asBoolean()),
        json.path("access").asText(),
        json.path("refresh").textValue(),
        json.path("expires").asLong());
  }

  /** Without its secrets. */
  @Override
  public String toString() {
    return "login of client " + client.id() + " at " + resource;
  }
}
