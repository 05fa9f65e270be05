package dev.mcpbridge.oauth;

import dev.mcpbridge.config.OAuthConfig;
import dev.mcpbridge.model.Caller;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;

/**
 * Identity assertions for a server's authorization server, which the identity provider of the
 * callers issues (MCP extension io.modelcontextprotocol/enterprise-managed-authorization;
 * draft-ietf-oauth-identity-assertion-authz-grant).
 */
record IdentityAssertion(TokenEndpoint endpoint, OAuthConfig.IdentityProvider provider) {
  private static final String ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
  private static final String JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

  /**
   * The form that presents an assertion about a caller to the authorization server of the terms
   * (RFC 7523 section 2.1).
   */
  Future<MultiMap> form(Caller caller, OAuthConfig config, Grant.Terms terms) {
    Registration client =
        Registration.withSecret(provider.clientId(), provider.clientSecret().reveal());
    MultiMap request =
        TokenExchange.form(caller, config, terms)
            .set("requested_token_type", ID_JAG)
            .set("audience", terms.issuer());
    return endpoint
        .assertion(provider.tokenEndpoint().toString(), client, request, ID_JAG)
        .map(
            assertion ->
                MultiMap.caseInsensitiveMultiMap()
                    .add("grant_type", JWT_BEARER)
                    .add("assertion", assertion));
  }
}
