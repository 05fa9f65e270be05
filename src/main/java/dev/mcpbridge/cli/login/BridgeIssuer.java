package dev.mcpbridge.cli.login;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.auth.MetadataUrls;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayList;
import java.util.List;

/**
 * The authorization server of a bridge, found by the metadata of both (RFC 9728, RFC 8414).
 *
 * @param resource identifier of the bridge
 * @param scopes that the bridge knows
 */
record BridgeIssuer(String resource, List<String> scopes, JsonNode metadata) {
  private static final String RESOURCE = "/.well-known/oauth-protected-resource";

  /**
   * @param expected the issuer that the user expects; empty for any
   * @throws BridgeException if the bridge has no issuer, or what one of them says does not fit
   */
  static BridgeIssuer of(String bridge, String expected, IssuerRequests requests)
      throws InterruptedException {
    IssuerRequests.Response published = requests.get(bridge + RESOURCE);
    if (!published.ok()) {
      throw IssuerRequests.refused(
          "The bridge at " + bridge + " accepts API keys only: set MCP_BRIDGE_KEY");
    }
    String resource = published.body().path("resource").asText();
    if (!resource.replaceAll("/$", "").equals(bridge)) {
      throw IssuerRequests.refused(
          "The bridge at %s is known as %s: use --url %2$s"
              .formatted(bridge, IssuerRequests.printable(resource)));
    }
    List<String> scopes = new ArrayList<>();
    published.body().path("scopes_supported").forEach(scope -> scopes.add(scope.asText()));
    String issuer = published.body().path("authorization_servers").path(0).asText();
    if (!expected.isEmpty() && !expected.equals(issuer)) {
      throw IssuerRequests.refused(
          "The bridge at %s names the issuer %s"
              .formatted(bridge, IssuerRequests.printable(issuer)));
    }
    return new BridgeIssuer(resource, scopes, metadata(issuer, requests));
  }

  private static JsonNode metadata(String issuer, IssuerRequests requests)
      throws InterruptedException {
    for (String url : MetadataUrls.of(IssuerRequests.permitted(issuer))) {
      IssuerRequests.Response found = requests.get(url);
      if (found.ok()) {
        return checked(issuer, found.body());
      }
    }
    throw new BridgeException(
        ErrorCode.ISSUER_UNAVAILABLE, "The issuer " + issuer + " publishes no metadata");
  }

  /** RFC 8414 section 3.3. */
  private static JsonNode checked(String issuer, JsonNode metadata) {
    if (!metadata.path("issuer").asText().equals(issuer)) {
      throw IssuerRequests.refused("The metadata of " + issuer + " is that of another issuer");
    }
    return metadata;
  }

  /** The URL of an endpoint. */
  String endpoint(String name) {
    String url = metadata.path(name).asText();
    if (url.isEmpty()) {
      throw IssuerRequests.refused(
          "The issuer %s has no %s".formatted(issuer(), name.replace('_', ' ')));
    }
    return IssuerRequests.permitted(url).toString();
  }

  String issuer() {
    return metadata.path("issuer").asText();
  }

  boolean supports(String list, String value) {
    for (JsonNode each : metadata.path(list)) {
      if (each.asText().equals(value)) {
        return true;
      }
    }
    return false;
  }

  /** Whether its authorization responses name it (RFC 9207). */
  boolean namesItself() {
    return metadata.path("authorization_response_iss_parameter_supported").asBoolean();
  }

  /**
   * What is asked for: the scopes of the bridge unless others are wanted, and a refresh token if
   * that has a scope.
   */
  String scope(List<String> wanted) {
    List<String> all = new ArrayList<>(wanted.isEmpty() ? scopes : wanted);
    if (supports("scopes_supported", "offline_access")) {
      all.add("offline_access");
    }
    return String.join(" ", all);
  }

  /**
   * Registers this program (RFC 7591).
   *
   * @param redirectUri null for a client without a browser
   */
  Login.Client register(IssuerRequests requests, String redirectUri) throws InterruptedException {
    if (!metadata.has("registration_endpoint")) {
      throw IssuerRequests.refused(
          "The issuer " + issuer() + " registers no clients: pass the id of one with --client-id");
    }
    ObjectNode client =
        Json.object()
            .put("client_name", "mcp-bridge command line")
            .put("application_type", "native")
            .put("token_endpoint_auth_method", "none");
    var grants = client.putArray("grant_types").add("refresh_token");
    if (redirectUri == null) {
      grants.add(DeviceLogin.GRANT_TYPE);
      client.putArray("response_types");
      client.putArray("redirect_uris");
    } else {
      grants.add("authorization_code");
      client.putArray("response_types").add("code");
      client.putArray("redirect_uris").add(redirectUri);
    }
    IssuerRequests.Response registered = requests.post(endpoint("registration_endpoint"), client);
    if (!registered.ok() || !registered.body().path("client_id").isTextual()) {
      throw IssuerRequests.refused(
          "The issuer %s does not register this program (%s): pass the id of a client with --client-id"
              .formatted(issuer(), registered.reason()));
    }
    return client(
        registered.body().path("client_id").asText(),
        registered.body().path("client_secret").textValue());
  }

  /** A client with the way of authentication that the issuer supports (RFC 8414 section 2). */
  Login.Client client(String id, String secret) {
    return new Login.Client(
        id, secret, !supports("token_endpoint_auth_methods_supported", "client_secret_post"));
  }
}
