package dev.mcpbridge.config;

import java.net.URI;

/** What an API wants to see of its callers. */
public sealed interface ApiCredential {

  /** With its secrets, to tell one from another; never shown. */
  String spelt();

  /** A key in a header, a query parameter or a cookie. */
  record Key(String in, String name, Secret value) implements ApiCredential {
    @Override
    public String spelt() {
      return in + name + value.reveal();
    }
  }

  /** RFC 7617. */
  record Basic(String user, Secret password) implements ApiCredential {
    @Override
    public String spelt() {
      return user + ":" + password.reveal();
    }
  }

  /** RFC 6750. */
  record Bearer(Secret token) implements ApiCredential {
    @Override
    public String spelt() {
      return token.reveal();
    }
  }

  /**
   * RFC 6749 section 4.4.
   *
   * @param scope null for what the server gives unasked
   */
  record ClientCredentials(URI tokenUrl, String clientId, Secret clientSecret, String scope)
      implements ApiCredential {
    @Override
    public String spelt() {
      return tokenUrl + clientId + clientSecret.reveal() + scope;
    }
  }
}
