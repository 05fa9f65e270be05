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
 * Where the operations of a document are called. A document cannot send credentials elsewhere than
 * where it came from, only its operator can: with {@code server} for the whole of it, with {@code
 * servers} for single paths and operations.
 */
final class ServerUrls {
  /** What has no place by itself has none here. */
  private static final URI NOWHERE = URI.create("https://nowhere.invalid/");

  private final OpenApiSource source;
  private final URI from;
  private final URI said;
  private final URI base;

  /**
   * @throws dev.mcpbridge.error.BridgeException START_FAILED where the API has no place, or one
   *     that nobody stands behind
   */
  ServerUrls(OpenApiSource source, Document document) {
    this.source = source;
    this.from = source.document() instanceof DocumentSource.Url url ? url.url() : NOWHERE;
    this.said = said(url(document.root().path("servers").path(0)));
    this.base = source.server() == null ? confirmed() : source.server();
    String wrong = wrong(base);
    if (wrong != null) {
      throw DocumentReader.unusable(wrong);
    }
  }

  /** Where the API is; paths are added to its path. */
  URI base() {
    return base;
  }

  /**
   * Of the nearest list of servers the first that may be called (OpenAPI 3.1 sections 4.8.9 and
   * 4.8.10). One that stands where the document's own server does moves with it to where the
   * operator says that this is.
   *
   * @throws OperationReader.Unusable where there is none
   */
  URI of(JsonNode item, JsonNode operation) {
    JsonNode nearest = operation.path("servers").isEmpty() ? item : operation;
    JsonNode own = nearest.path("servers");
    if (own.isEmpty()) {
      return base;
    }
    List<String> refused = new ArrayList<>();
    for (JsonNode server : own) {
      URI called = called(url(server));
      if (called != null) {
        return called;
      }
      refused.add(url(server));
    }
    throw new OperationReader.Unusable(
        "its own server "
            + String.join(", ", refused)
            + " is another than the API's: confirm it with servers in the entry");
  }

  private URI called(String url) {
    URI own = resolved(url);
    if (own == null || wrong(own) != null) {
      return null;
    }
    if (isSameOrigin(own, said) || isSameOrigin(own, NOWHERE)) {
      return URI.create(base.getScheme() + "://" + base.getRawAuthority() + moved(path(own)));
    }
    boolean isConfirmed = source.servers().stream().anyMatch(other -> isSameOrigin(other, own));
    return isConfirmed || isSameOrigin(own, base) ? own : null;
  }

  /**
   * Where a path of the document's own server is once that server stands at the base. What both
   * paths end with is left aside: a base of {@code /proxy/v1} instead of {@code /v1} says that
   * {@code /v2} is at {@code /proxy/v2}.
   */
  private String moved(String path) {
    String before = path(said);
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

  /** Without slashes at its end. */
  private static String path(URI server) {
    return server.getRawPath() == null ? "" : server.getRawPath().replaceAll("/+$", "");
  }

  private URI confirmed() {
    if (said.getHost() == null || said.getHost().equals(NOWHERE.getHost())) {
      throw DocumentReader.unusable("it does not say where the API is: set server in the entry");
    }
    if (from != NOWHERE && !isSameOrigin(from, said)) {
      throw DocumentReader.unusable(
          "its server "
              + said.getScheme()
              + "://"
              + said.getAuthority()
              + " is another than the one it came from: confirm it with server in the entry");
    }
    return said;
  }

  /** Null for a server that can be called. */
  private static String wrong(URI base) {
    boolean isHttp = "http".equals(base.getScheme()) || "https".equals(base.getScheme());
    String path = base.getRawPath() == null ? "" : base.getRawPath();
    boolean climbs = List.of(path.split("/")).contains("..");
    return !isHttp || base.getHost() == null || base.getRawUserInfo() != null || climbs
        ? "'" + base + "' is no server that can be called"
        : null;
  }

  /** What the document says of itself is of no interest where its operator says something else. */
  private URI said(String url) {
    URI resolved = resolved(url);
    if (resolved == null && source.server() == null) {
      throw DocumentReader.unusable("its server '" + url + "' is no URL");
    }
    return resolved == null ? NOWHERE : resolved;
  }

  private URI resolved(String url) {
    try {
      return from.resolve(url);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** With the variables at their defaults. */
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
