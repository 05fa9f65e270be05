package dev.mcpbridge.config;

import java.net.URI;

/** A credential that the bridge sends to an API. */
public sealed interface ApiCredential {

  /** An API key in a header, a query parameter or a cookie. */
  record Key(String location, String name, Secret value) implements ApiCredential {}

  /** HTTP Basic authentication, RFC 7617. */
  record Basic(String user, Secret password) implements ApiCredential {}

  /** A bearer token, RFC 6750. */
  record Bearer(Secret token) implements ApiCredential {}

  /**
   * The OAuth 2.0 client credentials grant, RFC 6749 section 4.4.
   *
   * @param scope null for the default scope of the authorization server
   */
  record ClientCredentials(URI tokenUrl, String clientId, Secret clientSecret, String scope)
      implements ApiCredential {}
}
