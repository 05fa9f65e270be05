package dev.mcpbridge.oauth;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.auth.BasicCredentials;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.MultiMap;
import java.util.List;

/**
 * The bridge as a client of an authorization server.
 *
 * @param secret null for a public client
 * @param method how it authenticates to the token endpoint (RFC 8414 section 2)
 */
record Registration(String clientId, String secret, String method) {
  private static final String BASIC = "client_secret_basic";
  private static final String POST = "client_secret_post";
  private static final String NONE = "none";

  /** With the first method that both support. */
  static Registration of(String clientId, String secret, AuthorizationServer issuer) {
    return new Registration(clientId, secret, secret == null ? NONE : method(issuer));
  }

  /** One with a secret, at an authorization server without metadata. */
  static Registration withSecret(String clientId, String secret) {
    return new Registration(clientId, secret, BASIC);
  }

  /** The preferred method; without a list it is the default of RFC 8414. */
  static String method(AuthorizationServer issuer) {
    List<String> supported = issuer.values("token_endpoint_auth_methods_supported");
    return List.of(BASIC, POST, NONE).stream()
        .filter(supported::contains)
        .findFirst()
        .orElse(BASIC);
  }

  /** Adds what identifies the client to a request; returns its Authorization, or null. */
  String authenticate(MultiMap form) {
    if (method.equals(BASIC) && secret != null) {
      return BasicCredentials.of(clientId, secret);
    }
    form.set("client_id", clientId);
    if (method.equals(POST) && secret != null) {
      form.set("client_secret", secret);
    }
    return null;
  }

  ObjectNode json() {
    return Json.object().put("clientId", clientId).put("secret", secret).put("method", method);
  }

  static Registration of(JsonNode json) {
    return new Registration(
        json.path("clientId").asText(),
        json.path("secret").textValue(),
        json.path("method").asText());
  }
}
