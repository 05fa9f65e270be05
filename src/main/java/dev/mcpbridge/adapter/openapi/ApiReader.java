package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.adapter.DistinctNames;
import dev.mcpbridge.config.OpenApiSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the base URL and the operations of an API from its document. Blocks. */
final class ApiReader {
  static final List<String> METHODS =
      List.of("get", "put", "post", "delete", "options", "head", "patch");

  private final OpenApiSource source;
  private final Document document;
  private final ServerUrls serverUrls;
  private final Map<String, String> omitted = new LinkedHashMap<>();
  private final List<String> lost = new ArrayList<>();

  private ApiReader(OpenApiSource source, Document document) {
    this.source = source;
    this.document = document;
    this.serverUrls = new ServerUrls(source, document);
  }

  /**
   * @throws dev.mcpbridge.error.BridgeException START_FAILED with the reason
   */
  static Api read(OpenApiSource source, byte[] text) {
    return new ApiReader(source, Document.of(text)).api();
  }

  private Api api() {
    JsonNode info = document.root().path("info");
    List<Operation.Location> locations = operations();
    List<String> names =
        DistinctNames.of(
            locations.stream()
                .map(
                    each ->
                        ToolNames.candidate(
                            each.node().path("operationId").asText(""), each.method(), each.path()))
                .toList(),
            locations.stream().map(Operation.Location::toString).toList());
    Map<String, Api.OfferedOperation> tools = new LinkedHashMap<>();
    for (int i = 0; i < locations.size(); i++) {
      offer(locations.get(i), names.get(i), tools);
    }
    return new Api(
        info.path("title").asText("API"),
        info.path("version").asText("0"),
        info.path("description").asText(null),
        serverUrls.base(),
        tools,
        Collections.unmodifiableMap(omitted),
        List.copyOf(lost));
  }

  private List<Operation.Location> operations() {
    List<Operation.Location> locations = new ArrayList<>();
    document
        .root()
        .path("paths")
        .forEachEntry(
            (path, declared) -> {
              JsonNode item = document.follow(declared);
              for (String method : METHODS) {
                if (item.path(method).isObject() && path.startsWith("/")) {
                  locations.add(new Operation.Location(path, method, item, item.get(method)));
                }
              }
            });
    return locations;
  }

  private void offer(
      Operation.Location location, String name, Map<String, Api.OfferedOperation> tools) {
    List<String> tags = location.node().path("tags").valueStream().map(JsonNode::asText).toList();
    boolean isIncluded =
        source.include() == null
            || source.include().matches(tags, location.path(), location.method(), name);
    if (!isIncluded || source.exclude().matches(tags, location.path(), location.method(), name)) {
      return;
    }
    OpenApiSource.ToolOverride toolOverride =
        source.overrides().getOrDefault(name, new OpenApiSource.ToolOverride(null, null));
    String toolName = toolOverride.name() == null ? name : toolOverride.name();
    OperationReader reader = new OperationReader(document, serverUrls, source, location, lost);
    try {
      Api.OfferedOperation offered = reader.read(toolName, toolOverride.description());
      if (tools.putIfAbsent(toolName, offered) != null) {
        omit(location, "another tool is already named " + toolName);
      }
    } catch (OperationReader.Unusable e) {
      omit(location, e.getMessage());
    }
  }

  private void omit(Operation.Location location, String reason) {
    omitted.put(location.toString(), reason);
    lost.add(location + ": " + reason);
  }
}
