package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.config.DocumentSource;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.transport.HttpOrigin;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Determines the URLs at which the operations of a document are called. A document cannot direct
 * credentials to an origin other than its own; only the operator can, with {@code server} for the
 * whole API and {@code servers} for single paths and operations.
 */
final class ServerUrls {
  /** The base of relative URLs in a document that was not fetched from a URL. */
  private static final URI NO_ORIGIN = URI.create("https://nowhere.invalid/");

  private final OpenApiSource source;
  private final URI from;
  private final URI declared;
  private final URI base;

  /**
   * @throws dev.mcpbridge.error.BridgeException START_FAILED if the document declares no URL, an
   *     invalid one, or one on another origin that the operator has not confirmed
   */
  ServerUrls(OpenApiSource source, Document document) {
    this.source = source;
    this.from = source.document() instanceof DocumentSource.Url url ? url.url() : NO_ORIGIN;
    this.declared = declared(url(document.root().path("servers").path(0)));
    this.base = source.server() == null ? confirmed() : source.server();
    String problem = problem(base);
    if (problem != null) {
      throw DocumentReader.unusable(problem);
    }
  }

  /** The base URL of the API; paths of operations are appended to its path. */
  URI base() {
    return base;
  }

  /**
   * The first permitted server of the operation's own list, else of its path's list (OpenAPI 3.1
   * sections 4.8.9 and 4.8.10). A server on the origin of the document's own server is moved with
   * it to the origin that the operator has configured.
   *
   * @throws OperationReader.Unusable if none of the servers is permitted
   */
  URI of(JsonNode item, JsonNode operation) {
    JsonNode nearest = operation.path("servers").isEmpty() ? item : operation;
    JsonNode own = nearest.path("servers");
    if (own.isEmpty()) {
      return base;
    }
    List<String> rejected = new ArrayList<>();
    for (JsonNode server : own) {
      URI permitted = permitted(url(server));
      if (permitted != null) {
        return permitted;
      }
      rejected.add(url(server));
    }
    throw new OperationReader.Unusable(
        "its own server "
            + String.join(", ", rejected)
            + " differs from the API's server: confirm it with 'servers' in its entry");
  }

  private URI permitted(String url) {
    URI own = resolved(url);
    if (own == null || problem(own) != null) {
      return null;
    }
    if (isSameOrigin(own, declared) || isSameOrigin(own, NO_ORIGIN)) {
      return URI.create(base.getScheme() + "://" + base.getRawAuthority() + moved(path(own)));
    }
    boolean isConfirmed = source.servers().stream().anyMatch(other -> isSameOrigin(other, own));
    return isConfirmed || isSameOrigin(own, base) ? own : null;
  }

  /**
   * Maps a path of the document's own server to the configured base. The common suffix of both base
   * paths is ignored: a base of {@code /proxy/v1} instead of {@code /v1} maps {@code /v2} to {@code
   * /proxy/v2}.
   */
  private String moved(String path) {
    String before = path(declared);
    String after = path(base);
    int cut = before.lastIndexOf('/');
    while (cut >= 0 && after.endsWith(before.substring(cut))) {
      after = after.substring(0, after.length() - before.length() + cut);
      before = before.substring(0, cut);
      cut = before.lastIndexOf('/');
    }
    boolean isBelow = (path + "/").startsWith(before + "/");
    return after + (isBelow ? path.substring(before.length()) : path);
  }

  /** The path without trailing slashes. */
  static String path(URI server) {
    return server.getRawPath() == null ? "" : server.getRawPath().replaceAll("/+$", "");
  }

  private URI confirmed() {
    if (declared.getHost() == null || declared.getHost().equals(NO_ORIGIN.getHost())) {
      throw DocumentReader.unusable(
          "it does not declare the URL of the API: set 'server' in its entry");
    }
    if (from != NO_ORIGIN && !isSameOrigin(from, declared)) {
      throw DocumentReader.unusable(
          "its server "
              + declared.getScheme()
              + "://"
              + declared.getAuthority()
              + " is not where it was fetched from: confirm it with 'server' in its entry");
    }
    return declared;
  }

  /** Why a server URL is invalid; null if it is valid. */
  private static String problem(URI base) {
    boolean isHttp = "http".equals(base.getScheme()) || "https".equals(base.getScheme());
    String path = base.getRawPath() == null ? "" : base.getRawPath();
    boolean hasParentSegment = List.of(path.split("/")).contains("..");
    return !isHttp || base.getHost() == null || base.getRawUserInfo() != null || hasParentSegment
        ? "'" + base + "' is not a valid server URL"
        : null;
  }

  /** An invalid URL is ignored if the operator has configured a server. */
  private URI declared(String url) {
    URI resolved = resolved(url);
    if (resolved == null && source.server() == null) {
      throw DocumentReader.unusable("its server '" + url + "' is not a valid URL");
    }
    return resolved == null ? NO_ORIGIN : resolved;
  }

  private URI resolved(String url) {
    try {
      return from.resolve(url);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** The URL with all variables replaced by their defaults. */
  private static String url(JsonNode server) {
    String url = server.path("url").asText("/");
    for (Map.Entry<String, JsonNode> variable : server.path("variables").properties()) {
      url =
          url.replace(
              "{" + variable.getKey() + "}", variable.getValue().path("default").asText(""));
    }
    return url;
  }

  static boolean isSameOrigin(URI one, URI other) {
    return HttpOrigin.of(one).equals(HttpOrigin.of(other));
  }
}
