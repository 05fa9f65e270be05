package dev.mcpbridge.oauth;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.config.OAuthConfig;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayList;
import java.util.List;

/**
 * An authorization server.
 *
 * @param issuer its identifier, as it was written where it was found
 * @param metadata RFC 8414 section 2
 */
record AuthorizationServer(String issuer, JsonNode metadata) {

  /** One without metadata, of which the configuration names the endpoints. */
  static AuthorizationServer of(OAuthConfig config) {
    ObjectNode metadata = Json.object();
    if (config.endpoints().authorization() != null) {
      metadata.put("authorization_endpoint", config.endpoints().authorization().toString());
    }
    metadata.put("token_endpoint", config.endpoints().token().toString());
    metadata.putArray("code_challenge_methods_supported").add("S256");
    String issuer =
        config.issuers().isEmpty()
            ? config.endpoints().token().toString()
            : config.issuers().get(0);
    return new AuthorizationServer(issuer, metadata);
  }

  /** A URL; empty if absent. */
  String endpoint(String name) {
    return metadata.path(name).asText();
  }

  boolean supports(String list, String value) {
    return values(list).contains(value);
  }

  List<String> values(String list) {
    List<String> values = new ArrayList<>();
    metadata.path(list).forEach(value -> values.add(value.asText()));
    return values;
  }

  /** Whether the id of a client may be the URL of its metadata. */
  boolean readsClientMetadata() {
    return metadata.path("client_id_metadata_document_supported").asBoolean();
  }

  /** Whether its authorization responses name it (RFC 9207). */
  boolean namesItself() {
    return metadata.path("authorization_response_iss_parameter_supported").asBoolean();
  }
}
