package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.config.TextSource;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Understands a document: where the API is, and its operations. Blocks for some time. */
final class ApiReader {
  /** What has no place by itself has none here. */
  private static final URI NOWHERE = URI.create("https://nowhere.invalid/");

  private static final List<String> METHODS =
      List.of("get", "put", "post", "delete", "options", "head", "patch");

  private final OpenApiSource source;
  private final Document document;
  private final List<String> lost = new ArrayList<>();

  private ApiReader(OpenApiSource source, Document document) {
    this.source = source;
    this.document = document;
  }

  /**
   * @throws dev.mcpbridge.error.BridgeException START_FAILED, saying what is wrong
   */
  static Api read(OpenApiSource source, byte[] text) {
    return new ApiReader(source, Document.of(text)).api();
  }

  /** One operation as it stands in the document. */
  private record Found(String path, String method, JsonNode item, JsonNode node) {
    String place() {
      return method.toUpperCase(Locale.ROOT) + " " + path;
    }
  }

  private Api api() {
    JsonNode info = document.root().path("info");
    List<Found> found = found();
    List<String> names =
        ToolNames.distinct(
            found.stream()
                .map(
                    each ->
                        ToolNames.wanted(
                            each.node().path("operationId").asText(""), each.method(), each.path()))
                .toList(),
            found.stream().map(Found::place).toList());
    Map<String, Api.OfferedOperation> tools = new LinkedHashMap<>();
    for (int i = 0; i < found.size(); i++) {
      offer(found.get(i), names.get(i), tools);
    }
    return new Api(
        info.path("title").asText("API"),
        info.path("version").asText("0"),
        info.path("description").asText(null),
        base(),
        tools,
        List.copyOf(lost));
  }

  private List<Found> found() {
    List<Found> found = new ArrayList<>();
    document
        .root()
        .path("paths")
        .properties()
        .forEach(
            path -> {
              JsonNode item = document.follow(path.getValue());
              for (String method : METHODS) {
                if (item.path(method).isObject() && path.getKey().startsWith("/")) {
                  found.add(new Found(path.getKey(), method, item, item.get(method)));
                }
              }
            });
    return found;
  }

  private void offer(Found found, String name, Map<String, Api.OfferedOperation> tools) {
    List<String> tags = new ArrayList<>();
    found.node().path("tags").forEach(tag -> tags.add(tag.asText()));
    boolean isIncluded =
        source.include() == null
            || source.include().names(tags, found.path(), found.method(), name);
    if (!isIncluded || source.exclude().names(tags, found.path(), found.method(), name)) {
      return;
    }
    OpenApiSource.Override words =
        source.overrides().getOrDefault(name, new OpenApiSource.Override(null, null));
    String shown = words.name() == null ? name : words.name();
    OperationReader reader = new OperationReader(document, source, found.place(), lost);
    try {
      Api.OfferedOperation offered =
          reader.read(
              new OperationReader.Place(
                  found.path(), found.method(), found.item(), found.node(), tags),
              shown,
              words.description());
      if (tools.putIfAbsent(shown, offered) != null) {
        lost.add(found.place() + ": another tool is named " + shown);
      }
    } catch (OperationReader.Unusable e) {
      lost.add(found.place() + ": " + e.getMessage());
    }
  }

  /**
   * Where the document says that the API is, as far as that is where the document came from: a
   * document cannot send credentials elsewhere, only its operator can.
   */
  private URI base() {
    if (source.server() != null) {
      return checked(source.server());
    }
    URI from = source.document() instanceof TextSource.At at ? at.url() : null;
    String said = serverUrl();
    URI base;
    try {
      base = (from == null ? NOWHERE : from).resolve(said);
    } catch (IllegalArgumentException e) {
      throw DocumentReader.unusable("its server '" + said + "' is no URL");
    }
    if (base.getHost() == null || base.getHost().equals(NOWHERE.getHost())) {
      throw DocumentReader.unusable("it does not say where the API is: set server in the entry");
    }
    if (from != null && !isSameOrigin(from, base)) {
      throw DocumentReader.unusable(
          "its server "
              + base.getScheme()
              + "://"
              + base.getAuthority()
              + " is another than the one it came from: confirm it with server in the entry");
    }
    return checked(base);
  }

  private static URI checked(URI base) {
    boolean isHttp = "http".equals(base.getScheme()) || "https".equals(base.getScheme());
    String path = base.getRawPath() == null ? "" : base.getRawPath();
    boolean climbs = List.of(path.split("/")).contains("..");
    if (!isHttp || base.getHost() == null || base.getRawUserInfo() != null || climbs) {
      throw DocumentReader.unusable("'" + base + "' is no server that can be called");
    }
    return base;
  }

  static boolean isSameOrigin(URI one, URI other) {
    return one.getScheme().equalsIgnoreCase(other.getScheme())
        && one.getHost().equalsIgnoreCase(String.valueOf(other.getHost()))
        && port(one) == port(other);
  }

  private static int port(URI uri) {
    return uri.getPort() >= 0
        ? uri.getPort()
        : "https".equalsIgnoreCase(uri.getScheme()) ? 443 : 80;
  }

  /** The first of its servers, with the variables at their defaults. */
  private String serverUrl() {
    JsonNode server = document.root().path("servers").path(0);
    String url = server.path("url").asText("/");
    for (Map.Entry<String, JsonNode> variable : server.path("variables").properties()) {
      url =
          url.replace(
              "{" + variable.getKey() + "}", variable.getValue().path("default").asText(""));
    }
    return url;
  }
}
