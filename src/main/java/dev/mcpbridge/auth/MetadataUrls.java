package dev.mcpbridge.auth;

import java.net.URI;
import java.util.List;

/** Where authorization servers publish their metadata. Stateless. */
public final class MetadataUrls {
  private static final String OAUTH = "/.well-known/oauth-authorization-server";
  private static final String OPENID = "/.well-known/openid-configuration";

  private MetadataUrls() {}

  /**
   * The URLs of an issuer, in the order in which clients of MCP servers try them
   * (basic/authorization, authorization server metadata discovery).
   */
  public static List<String> of(URI issuer) {
    String origin = issuer.getScheme() + "://" + issuer.getRawAuthority();
    String path = issuer.getRawPath() == null ? "" : issuer.getRawPath().replaceAll("/$", "");
    return path.isEmpty()
        ? List.of(origin + OAUTH, origin + OPENID)
        : List.of(origin + OAUTH + path, origin + OPENID + path, origin + path + OPENID);
  }
}
