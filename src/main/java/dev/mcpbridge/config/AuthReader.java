package dev.mcpbridge.config;

import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Reads the {@code auth} section. */
final class AuthReader {
  private AuthReader() {}

  static AuthConfig read(Section auth) {
    List<AuthConfig.Issuer> issuers = issuers(auth);
    return new AuthConfig(
        keys(auth), issuers, publicUrl(auth), login(auth.section("login"), issuers), false, null);
  }

  private static List<AuthConfig.Key> keys(Section auth) {
    List<AuthConfig.Key> keys = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (Section key : auth.sections("keys")) {
      String name = key.text("name");
      if ("anonymous".equals(name)) {
        key.report("name", "is the name of callers without a credential");
      }
      if (!names.add(name)) {
        key.report("name", "another key already has this name");
      }
      keys.add(
          new AuthConfig.Key(
              name,
              key.text("sha256", "").toLowerCase(Locale.ROOT),
              Set.copyOf(key.texts("scopes")),
              Set.copyOf(key.texts("roles"))));
    }
    return keys;
  }

  private static List<AuthConfig.Issuer> issuers(Section auth) {
    List<AuthConfig.Issuer> issuers = new ArrayList<>();
    Set<String> names = new HashSet<>();
    Set<String> identifiers = new HashSet<>();
    for (Section issuer : auth.sections("issuers")) {
      AuthConfig.Issuer read = issuer(issuer);
      if (!names.add(read.name())) {
        issuer.report("name", "another issuer already has this name");
      }
      if (!identifiers.add(read.issuer())) {
        issuer.report("issuer", "another entry already has this issuer");
      }
      if (read.introspection() != null
          && issuers.stream().anyMatch(other -> other.introspection() != null)) {
        issuer.report(
            "introspection",
            "another issuer already has it: a token that is not a JWT does not say whose it is, and"
                + " would be shown to both");
      }
      issuers.add(read);
    }
    return issuers;
  }

  private static AuthConfig.Issuer issuer(Section issuer) {
    return new AuthConfig.Issuer(
        issuer.text("name"),
        issuer.text("issuer"),
        new AuthConfig.TokenRules(
            !"any".equals(issuer.text("type")),
            Set.copyOf(issuer.texts("algorithms")),
            Set.copyOf(issuer.texts("audiences")),
            issuer.seconds("clockSkew")),
        new AuthConfig.Grants(scopes(issuer.section("scopes")), issuer.texts("roles")),
        issuer.seconds("staleKeys"),
        client(issuer.section("introspection")),
        HttpEntryReader.authority(issuer.section("tls")));
  }

  private static Map<String, String> scopes(Section scopes) {
    return Map.of(
        "read", scopes.text("read"),
        "call", scopes.text("call"),
        "approve", scopes.text("approve"),
        "admin", scopes.text("admin"),
        "audit", scopes.text("audit"));
  }

  /** Null if absent. */
  private static AuthConfig.Client client(Section client) {
    String id = client.text("clientId");
    String secret = client.text("clientSecret");
    return id == null || secret == null ? null : new AuthConfig.Client(id, new Secret(secret));
  }

  /** Null if absent. */
  private static AuthConfig.Login login(Section login, List<AuthConfig.Issuer> issuers) {
    if (login.names().isEmpty()) {
      return null;
    }
    String issuer = login.text("issuer");
    if (issuers.stream().noneMatch(known -> known.name().equals(issuer))) {
      login.report("issuer", "expected the name of an entry of auth.issuers");
    }
    return new AuthConfig.Login(issuer, client(login), login.texts("scopes"));
  }

  /** As browsers write it: in lower case, and without the default port. */
  private static String origin(URI url) {
    String scheme = url.getScheme().toLowerCase(Locale.ROOT);
    boolean isDefault = url.getPort() == (scheme.equals("https") ? 443 : 80);
    String port = url.getPort() < 0 || isDefault ? "" : ":" + url.getPort();
    return scheme + "://" + url.getHost().toLowerCase(Locale.ROOT) + port;
  }

  /** Without a trailing slash. */
  private static String publicUrl(Section auth) {
    String text = auth.text("publicUrl");
    if (text == null) {
      return null;
    }
    String url = text.replaceAll("/$", "");
    if (HttpEntryReader.isUrl(url)) {
      return origin(URI.create(url));
    }
    auth.report("publicUrl", "expected a URL, found \"" + text + '"');
    return null;
  }
}
