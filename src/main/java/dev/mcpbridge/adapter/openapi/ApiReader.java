package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.config.OpenApiSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Understands a document: where the API is, and its operations. Blocks for some time. */
final class ApiReader {
  private static final List<String> METHODS =
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
   * @throws dev.mcpbridge.error.BridgeException START_FAILED, saying what is wrong
   */
  static Api read(OpenApiSource source, byte[] text) {
    return new ApiReader(source, Document.of(text)).api();
  }

  private Api api() {
    JsonNode info = document.root().path("info");
    List<Operation.OperationLocation> found = found();
    List<String> names =
        ToolNames.distinct(
            found.stream()
                .map(
                    each ->
                        ToolNames.wanted(
                            each.node().path("operationId").asText(""), each.method(), each.path()))
                .toList(),
            found.stream().map(Operation.OperationLocation::toString).toList());
    Map<String, Api.OfferedOperation> tools = new LinkedHashMap<>();
    for (int i = 0; i < found.size(); i++) {
      offer(found.get(i), names.get(i), tools);
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

  private List<Operation.OperationLocation> found() {
    List<Operation.OperationLocation> found = new ArrayList<>();
    document
        .root()
        .path("paths")
        .properties()
        .forEach(
            path -> {
              JsonNode item = document.follow(path.getValue());
              for (String method : METHODS) {
                if (item.path(method).isObject() && path.getKey().startsWith("/")) {
                  found.add(
                      new Operation.OperationLocation(
                          path.getKey(), method, item, item.get(method)));
                }
              }
            });
    return found;
  }

  private void offer(
      Operation.OperationLocation found, String name, Map<String, Api.OfferedOperation> tools) {
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
    OperationReader reader =
        new OperationReader(document, serverUrls, source, found.toString(), lost);
    try {
      Api.OfferedOperation offered = reader.read(found, shown, words.description());
      if (tools.putIfAbsent(shown, offered) != null) {
        omit(found, "another tool is named " + shown);
      }
    } catch (OperationReader.Unusable e) {
      omit(found, e.getMessage());
    }
  }

  private void omit(Operation.OperationLocation operationLocation, String reason) {
    omitted.put(operationLocation.toString(), reason);
    lost.add(operationLocation + ": " + reason);
  }
}
