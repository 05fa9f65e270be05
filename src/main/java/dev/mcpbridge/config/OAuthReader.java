package dev.mcpbridge.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Reads the key {@code oauth} of an entry. Stateless. */
final class OAuthReader {
  private OAuthReader() {}

  /** Null if absent. */
  static OAuthConfig read(Section entry) {
    if (!entry.has("oauth")) {
      return null;
    }
    Section oauth = entry.section("oauth");
    OAuthConfig.Whose whose = whose(oauth.text("as"));
    OAuthConfig config =
        new OAuthConfig(
            whose,
            List.copyOf(oauth.texts("issuers")),
            client(oauth),
            new OAuthConfig.Request(
                List.copyOf(oauth.texts("scopes")),
                oauth.text("resource"),
                oauth.text("audience"),
                parameters(oauth.section("authorizeParams"))),
            new OAuthConfig.Endpoints(
                HttpEntryReader.url(oauth, "authorizationUrl"),
                HttpEntryReader.url(oauth, "tokenUrl"),
                identityProvider(oauth)),
            "service".equals(oauth.text("catalogue")),
            new OAuthConfig.Reach(
                oauth.flag("allowLoopback"), HttpEntryReader.authority(oauth.section("tls"))));
    check(oauth, config);
    if (entry.section("headers").names().stream().anyMatch("authorization"::equalsIgnoreCase)) {
      oauth.report("", "is of no use beside the header Authorization");
    }
    return config;
  }

  private static OAuthConfig.Whose whose(String text) {
    return text.equals("idJag")
        ? OAuthConfig.Whose.ID_JAG
        : OAuthConfig.Whose.valueOf(text.toUpperCase(Locale.ROOT));
  }

  /** Null if absent. */
  private static OAuthConfig.IdentityProvider identityProvider(Section oauth) {
    if (!oauth.has("identityProvider")) {
      return null;
    }
    Section provider = oauth.section("identityProvider");
    return new OAuthConfig.IdentityProvider(
        HttpEntryReader.url(provider, "tokenUrl"),
        provider.text("clientId"),
        new Secret(provider.text("clientSecret", "")));
  }

  private static OAuthConfig.Client client(Section oauth) {
    String secret = oauth.text("clientSecret");
    return new OAuthConfig.Client(
        oauth.text("clientId"),
        secret == null ? null : new Secret(secret),
        key(oauth),
        oauth.text("clientMetadataUrl"));
  }

  /** Null if absent, or if it is invalid, which is reported. */
  private static ClientKey key(Section oauth) {
    if (!oauth.has("clientKey")) {
      return null;
    }
    try {
      return ClientKey.of(oauth.text("clientKey", ""), oauth.text("clientKeyId"));
    } catch (IllegalArgumentException e) {
      oauth.report("clientKey", e.getMessage());
      return null;
    }
  }

  private static Map<String, String> parameters(Section section) {
    Map<String, String> parameters = new LinkedHashMap<>();
    section.names().forEach(name -> parameters.put(name, section.text(name, "")));
    return Map.copyOf(parameters);
  }

  private static void check(Section oauth, OAuthConfig config) {
    boolean isRegistered = config.client().id() != null;
    for (String proof : List.of("clientSecret", "clientKey")) {
      if (oauth.has(proof) && !isRegistered) {
        oauth.report(proof, "needs a clientId");
      }
    }
    if (oauth.has("clientKeyId") && !oauth.has("clientKey")) {
      oauth.report("clientKeyId", "needs a clientKey");
    }
    if (config.client().secret() != null && oauth.has("clientKey")) {
      oauth.report("clientKey", "is of no use beside clientSecret");
    }
    boolean hasIssuer = !config.issuers().isEmpty() || config.endpoints().token() != null;
    if (config.client().isConfidential() && !hasIssuer) {
      oauth.report(
          "issuers",
          "is required beside clientSecret and clientKey, or tokenUrl: to whom the bridge proves who it is");
    }
    if (config.exchanges() && !hasIssuer) {
      oauth.report("tokenUrl", "is required, or issuers: callers' tokens go only where they say");
    }
    boolean hasProvider = config.endpoints().identityProvider() != null;
    boolean isIdJag = config.whose() == OAuthConfig.Whose.ID_JAG;
    if (isIdJag && !hasProvider) {
      oauth.report("identityProvider", "is required: it exchanges the callers' tokens");
    }
    if (!isIdJag && hasProvider) {
      oauth.report("identityProvider", "is only used with as: idJag");
    }
    if (isIdJag && config.issuers().isEmpty()) {
      oauth.report("issuers", "is required: identity assertions name the authorization server");
    }
    boolean needsSecret = !config.needsConsent() || config.catalogueByService();
    if (needsSecret && !config.client().isConfidential() && !oauth.has("clientKey")) {
      oauth.report("clientSecret", "is required, or clientKey: the bridge authenticates with it");
    }
    if (config.endpoints().authorization() != null && config.endpoints().token() == null) {
      oauth.report("tokenUrl", "is required beside authorizationUrl");
    }
    boolean isFixed = config.endpoints().authorization() != null;
    if (isFixed && !isRegistered) {
      oauth.report("clientId", "is required beside authorizationUrl");
    }
  }
}
