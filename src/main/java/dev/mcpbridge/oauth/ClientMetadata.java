package dev.mcpbridge.oauth;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;

/** How the bridge describes itself to authorization servers (RFC 7591 section 2). Stateless. */
public final class ClientMetadata {
  private ClientMetadata() {}

  /**
   * @param method how it authenticates to the token endpoint
   */
  static ObjectNode of(String redirectUri, String method) {
    ObjectNode metadata = Json.object().put("client_name", "MCP Bridge");
    metadata.putArray("redirect_uris").add(redirectUri);
    metadata.putArray("grant_types").add("authorization_code").add("refresh_token");
    metadata.putArray("response_types").add("code");
    return metadata
        .put("token_endpoint_auth_method", method)
        .put("application_type", redirectUri.startsWith("https://") ? "web" : "native");
  }

  /**
   * The client metadata document, whose URL is the id of the client.
   *
   * @param servers names of the servers with credentials of callers
   */
  public static ObjectNode document(BridgeUrls bridge, Iterable<String> servers) {
    ObjectNode metadata = of(bridge.callback(""), "none").put("client_id", bridge.clientMetadata());
    metadata.put("client_uri", bridge.url());
    var redirectUris = metadata.putArray("redirect_uris");
    servers.forEach(server -> redirectUris.add(bridge.callback(server)));
    return metadata;
  }
}
