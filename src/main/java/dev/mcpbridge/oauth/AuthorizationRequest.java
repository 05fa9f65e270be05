package dev.mcpbridge.oauth;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.auth.Pkce;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.MultiMap;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A request for an authorization code with PKCE (OAuth 2.1 section 4.1.1, RFC 7636, RFC 8707).
 *
 * @param url for the browser of the user
 * @param pending what is needed to redeem the answer, as JSON; contains secrets
 */
public record AuthorizationRequest(String url, String pending) {
  static AuthorizationRequest of(
      URI endpoint,
      Grant.Terms terms,
      String redirectUri,
      String state,
      boolean namesItself,
      Map<String, String> further) {
    String verifier = Pkce.random();
    Map<String, String> parameters = new LinkedHashMap<>(further);
    parameters.put("response_type", "code");
    parameters.put("client_id", terms.client().clientId());
    parameters.put("redirect_uri", redirectUri);
    parameters.put("state", state);
    parameters.put("code_challenge", Pkce.challenge(verifier));
    parameters.put("code_challenge_method", "S256");
    if (terms.resource() != null) {
      parameters.put("resource", terms.resource());
    }
    if (!terms.scopes().isEmpty()) {
      parameters.put("scope", String.join(" ", terms.scopes()));
    }
    ObjectNode pending =
        Json.object()
            .put("namesItself", namesItself)
            .put("redirectUri", redirectUri)
            .put("verifier", verifier)
            .set("terms", terms.json());
    return new AuthorizationRequest(withQuery(endpoint, parameters), pending.toString());
  }

  /** What the pending request asks for. */
  static Grant.Terms terms(JsonNode pending) {
    return Grant.Terms.of(pending.path("terms"));
  }

  /** The request for tokens (OAuth 2.1 section 4.1.3). */
  static MultiMap redemption(JsonNode pending, String code) {
    return MultiMap.caseInsensitiveMultiMap()
        .add("grant_type", "authorization_code")
        .add("code", code)
        .add("redirect_uri", pending.path("redirectUri").asText())
        .add("code_verifier", pending.path("verifier").asText());
  }

  /**
   * Whether an authorization response comes from the authorization server of the request (RFC 9207
   * section 2.4). Compared without any normalization.
   *
   * @param issuer the parameter {@code iss}; null if absent
   */
  public static boolean isAnsweredBy(String pending, String issuer) {
    JsonNode request = Json.parsed(pending);
    return issuer == null
        ? !request.path("namesItself").asBoolean()
        : issuer.equals(terms(request).issuer());
  }

  private static String withQuery(URI endpoint, Map<String, String> parameters) {
    String query =
        parameters.entrySet().stream()
            .map(each -> encoded(each.getKey()) + '=' + encoded(each.getValue()))
            .collect(Collectors.joining("&"));
    return endpoint + (endpoint.getRawQuery() == null ? "?" : "&") + query;
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
