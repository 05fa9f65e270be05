package dev.mcpbridge.config;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * How the bridge obtains credentials for a server as an OAuth client.
 *
 * @param issuers authorization servers that may be used, by preference; empty for any public one
 * @param endpoints of an authorization server without metadata
 * @param catalogueByService whether the lists for all callers are read with the bridge's own
 *     credentials and not with those of a caller
 */
public record OAuthConfig(
    Whose whose,
    List<String> issuers,
    Client client,
    Request request,
    Endpoints endpoints,
    boolean catalogueByService,
    Reach reach) {

  /** Whose credentials a server gets. */
  public enum Whose {
    /** Those of each caller, after its consent. */
    USER,
    /** Those of the bridge. */
    SERVICE,
    /** The caller's access token, exchanged for one of the server. */
    EXCHANGE,
    /** The same, by an identity assertion of the identity provider that the callers use. */
    ID_JAG
  }

  /**
   * The bridge at an authorization server.
   *
   * @param id null if it is not registered beforehand
   * @param secret null for a public client, and beside a key
   * @param key null unless the bridge authenticates by signatures
   * @param metadataUrl where its metadata is published; null for below the URL of the bridge
   */
  public record Client(String id, Secret secret, ClientKey key, String metadataUrl) {

    /** Whether the bridge can prove that it is this client. */
    public boolean isConfidential() {
      return secret != null || key != null;
    }
  }

  /**
   * What is requested.
   *
   * @param scopes empty for those that the server asks for
   * @param audience of an exchanged token; null if absent
   * @param resource null for the one in the metadata of the server
   * @param parameters further parameters of an authorization request
   */
  public record Request(
      List<String> scopes, String resource, String audience, Map<String, String> parameters) {}

  /**
   * Configured endpoints; the first two are null if they are read from metadata.
   *
   * @param identityProvider null unless callers' tokens are exchanged there first
   */
  public record Endpoints(URI authorization, URI token, IdentityProvider identityProvider) {}

  /** The bridge as a client of the identity provider that callers use. */
  public record IdentityProvider(URI tokenEndpoint, String clientId, Secret clientSecret) {}

  /**
   * What may be reached.
   *
   * @param allowsLoopback whether http and loopback addresses are accepted from others
   * @param trustedCertificates PEM file for authorization servers; null for those of the JDK
   */
  public record Reach(boolean allowsLoopback, Path trustedCertificates) {}

  /** Whether the lists for all callers are read with the credential of one of them. */
  public boolean listsWithCaller() {
    return whose == Whose.USER && !catalogueByService;
  }

  /** Whether callers agree that the bridge uses the server in their name. */
  public boolean needsConsent() {
    return whose == Whose.USER;
  }

  /** Whether callers' access tokens are exchanged. */
  public boolean exchanges() {
    return whose == Whose.EXCHANGE || whose == Whose.ID_JAG;
  }

  /** Whether each caller has a credential of its own. */
  public boolean isForCallers() {
    return whose != Whose.SERVICE;
  }
}
