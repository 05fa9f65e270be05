package dev.mcpbridge.oauth;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.MetadataUrls;
import dev.mcpbridge.config.OAuthConfig;
import io.vertx.core.Future;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds the authorization server of a server: from the metadata of the protected resource (RFC
 * 9728), else the configured one; then its metadata (RFC 8414, OpenID Connect Discovery).
 */
final class Discovery {
  private static final String RESOURCE = "/.well-known/oauth-protected-resource";

  private final GuardedHttp http;
  private final URI server;
  private final OAuthConfig config;

  /**
   * What is known about a server.
   *
   * @param resource its identifier, exactly as it is published; null if it publishes none
   * @param scopes those that its metadata names
   */
  record ProtectedServer(String resource, List<String> scopes, AuthorizationServer issuer) {

    /**
     * What is asked for: what the operator wants, else what the server asked for, else what its
     * metadata names.
     *
     * @param asked what a refused request needs; null if unknown
     * @param challenged what the last challenge named; null if nothing
     */
    List<String> scopes(OAuthConfig config, String asked, String challenged) {
      String wanted = asked == null ? challenged : asked;
      Set<String> all = new LinkedHashSet<>(config.request().scopes());
      if (all.isEmpty()) {
        all.addAll(wanted == null ? scopes : Challenge.scopes(wanted));
      } else if (asked != null) {
        all.addAll(Challenge.scopes(asked));
      }
      if (issuer.supports("scopes_supported", "offline_access")) {
        all.add("offline_access");
      }
      return List.copyOf(all);
    }
  }

  Discovery(GuardedHttp http, URI server, OAuthConfig config) {
    this.http = http;
    this.server = server;
    this.config = config;
  }

  /**
   * @param challenge of the server's last refusal
   */
  Future<ProtectedServer> find(Challenge challenge) {
    if (config.endpoints().token() != null) {
      return Future.succeededFuture(
          new ProtectedServer(
              config.request().resource(), List.of(), AuthorizationServer.of(config)));
    }
    return resourceMetadata(challenge)
        .compose(this::described)
        .recover(
            failure ->
                config.issuers().isEmpty() || failure instanceof Mismatch
                    ? Future.failedFuture(failure)
                    : authorizationServer(config.issuers().get(0))
                        .map(
                            issuer ->
                                new ProtectedServer(
                                    config.request().resource(), List.of(), issuer)));
  }

  /** Metadata that must not be used, in contrast to metadata that is not there. */
  private static final class Mismatch extends IOException {
    private static final long serialVersionUID = 1L;

    Mismatch(String detail) {
      super(detail);
    }
  }

  private Future<JsonNode> resourceMetadata(Challenge challenge) {
    if (server == null) {
      return Future.failedFuture(new IOException("its URL is not configured"));
    }
    String origin = server.getScheme() + "://" + server.getRawAuthority();
    if (challenge.resourceMetadata() != null) {
      return isAtServer(challenge.resourceMetadata())
          ? document(challenge.resourceMetadata())
          : Future.failedFuture(new Mismatch("its resource metadata is at another host"));
    }
    String path = server.getRawPath() == null ? "" : server.getRawPath().replaceAll("/$", "");
    Future<JsonNode> first = document(origin + RESOURCE + path);
    return path.isEmpty() ? first : first.recover(absent -> document(origin + RESOURCE));
  }

  private boolean isAtServer(String url) {
    try {
      return GuardedHttp.origin(new URI(url)).equals(GuardedHttp.origin(server));
    } catch (URISyntaxException e) {
      return false;
    }
  }

  private Future<JsonNode> document(String url) {
    return http.get(url)
        .compose(
            answer ->
                answer.status() == 200 && answer.json().isObject()
                    ? Future.succeededFuture(answer.json())
                    : Future.failedFuture(new IOException("no metadata")));
  }

  private Future<ProtectedServer> described(JsonNode metadata) {
    String published = metadata.path("resource").asText();
    if (!isOfServer(published)) {
      return Future.failedFuture(new Mismatch("its metadata describes another resource"));
    }
    List<String> scopes = new ArrayList<>();
    metadata.path("scopes_supported").forEach(scope -> scopes.add(scope.asText()));
    String resource = config.request().resource() == null ? published : config.request().resource();
    return chosen(metadata.path("authorization_servers"))
        .compose(this::authorizationServer)
        .map(issuer -> new ProtectedServer(resource, scopes, issuer));
  }

  /** Whether an identifier is that of the server, or of a part of its site with the server. */
  private boolean isOfServer(String resource) {
    try {
      URI identifier = new URI(resource);
      if (identifier.getHost() == null
          || identifier.getRawFragment() != null
          || !GuardedHttp.origin(identifier).equals(GuardedHttp.origin(server))) {
        return false;
      }
      String part = String.valueOf(identifier.getRawPath()).replaceAll("/$", "");
      String path = String.valueOf(server.getRawPath()).replaceAll("/$", "");
      boolean isSameQuery =
          identifier.getRawQuery() == null || identifier.getRawQuery().equals(server.getRawQuery());
      return isSameQuery && (path.equals(part) || path.startsWith(part + "/"));
    } catch (URISyntaxException e) {
      return false;
    }
  }

  private Future<String> chosen(JsonNode issuers) {
    List<String> named = new ArrayList<>();
    issuers.forEach(issuer -> named.add(issuer.asText()));
    List<String> usable =
        config.issuers().isEmpty()
            ? named
            : config.issuers().stream().filter(named::contains).toList();
    return usable.isEmpty()
        ? Future.failedFuture(
            new Mismatch(
                named.isEmpty()
                    ? "its metadata names no authorization server"
                    : "its metadata names none of the configured authorization servers"))
        : Future.succeededFuture(usable.get(0));
  }

  private Future<AuthorizationServer> authorizationServer(String issuer) {
    List<String> urls;
    try {
      urls = MetadataUrls.of(http.permitted(issuer));
    } catch (IOException e) {
      return Future.failedFuture(new Mismatch("its authorization server: " + e.getMessage()));
    }
    Future<JsonNode> found = document(urls.get(0));
    for (String url : urls.subList(1, urls.size())) {
      found = found.recover(absent -> document(url));
    }
    return found
        .recover(
            absent ->
                Future.failedFuture(
                    new IOException("its authorization server publishes no metadata")))
        .compose(metadata -> checked(new AuthorizationServer(issuer, metadata)));
  }

  /** RFC 8414 section 3.3; OAuth 2.1 section 7.5.1. */
  private Future<AuthorizationServer> checked(AuthorizationServer found) {
    if (!found.metadata().path("issuer").asText().equals(found.issuer())) {
      return Future.failedFuture(new Mismatch("its authorization server names another issuer"));
    }
    if (config.whose() == OAuthConfig.Whose.USER
        && !found.supports("code_challenge_methods_supported", "S256")) {
      return Future.failedFuture(
          new Mismatch("its authorization server does not support PKCE with S256"));
    }
    return Future.succeededFuture(found);
  }
}
