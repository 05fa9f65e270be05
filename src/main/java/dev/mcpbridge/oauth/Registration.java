package dev.mcpbridge.oauth;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.auth.BasicCredentials;
import dev.mcpbridge.auth.ClientAssertion;
import dev.mcpbridge.config.ClientKey;
import dev.mcpbridge.config.OAuthConfig;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.MultiMap;
import java.time.Instant;
import java.util.List;

/**
 * The bridge as a client of an authorization server.
 *
 * @param secret null for a public client, and for one with a key
 * @param method how it authenticates to the token endpoint (RFC 8414 section 2)
 * @param issuer the authorization server; null where it does not matter
 */
record Registration(String clientId, String secret, String method, String issuer) {
  private static final String BASIC = "client_secret_basic";
  private static final String POST = "client_secret_post";
  private static final String KEY = "private_key_jwt";
  private static final String NONE = "none";

  /** One that was registered beforehand: with a key, or with the first method that both support. */
  static Registration of(OAuthConfig.Client client, AuthorizationServer issuer) {
    if (client.key() != null) {
      return new Registration(client.id(), null, KEY, issuer.issuer());
    }
    return client.secret() == null
        ? open(client.id())
        : new Registration(client.id(), client.secret().reveal(), method(issuer), null);
  }

  /** A public client. */
  static Registration open(String clientId) {
    return new Registration(clientId, null, NONE, null);
  }

  /** One with a secret, at an authorization server without metadata. */
  static Registration withSecret(String clientId, String secret) {
    return new Registration(clientId, secret, BASIC, null);
  }

  /** The preferred method; without a list it is the default of RFC 8414. */
  static String method(AuthorizationServer issuer) {
    List<String> supported = issuer.values("token_endpoint_auth_methods_supported");
    return List.of(BASIC, POST, NONE).stream()
        .filter(supported::contains)
        .findFirst()
        .orElse(BASIC);
  }

  /**
   * Adds what identifies the client to a request.
   *
   * @param key null for no key
   * @return its Authorization, or null
   */
  String authenticate(MultiMap form, ClientKey key) {
    if (method.equals(BASIC) && secret != null) {
      return BasicCredentials.of(clientId, secret);
    }
    form.set("client_id", clientId);
    if (method.equals(POST) && secret != null) {
      form.set("client_secret", secret);
    }
    if (method.equals(KEY) && key != null) {
      form.set("client_assertion_type", ClientAssertion.TYPE);
      form.set("client_assertion", ClientAssertion.of(key, clientId, issuer, Instant.now()));
    }
    return null;
  }

  ObjectNode json() {
    return Json.object()
        .put("clientId", clientId)
        .put("secret", secret)
        .put("method", method)
        .put("issuer", issuer);
  }

  static Registration of(JsonNode json) {
    return new Registration(
        json.path("clientId").asText(),
        json.path("secret").textValue(),
        json.path("method").asText(),
        json.path("issuer").textValue());
  }
}
