package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.dialect.Reduction;
import dev.mcpbridge.dialect.SchemaDialect;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Converts an operation to a tool: input schema, output schema and how to call it. */
final class OperationReader {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final int MAX_OUTPUT_SCHEMA = 64 << 10;
  private static final int MAX_DESCRIPTION = 4_096;

  /** OpenAPI 3.1 section 4.8.12: not parameters, as other parts of the document define them. */
  private static final Set<String> NOT_PARAMETERS =
      Set.of("accept", "accept-encoding", "content-type", "authorization");

  /** Headers that control the target, framing or sender of a request. */
  private static final Set<String> NEVER_SET =
      Set.of(
          "host",
          "content-length",
          "transfer-encoding",
          "connection",
          "upgrade",
          "te",
          "trailer",
          "expect",
          "proxy-authorization",
          "cookie");

  /** RFC 9110 section 5.6.2. */
  private static final Pattern FIELD_NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

  private static final Pattern PLACEHOLDER = Pattern.compile("\\{([^{}]+)}");

  private final Document document;
  private final ServerUrls serverUrls;
  private final OpenApiSource source;
  private final Operation.Location location;
  private final String name;
  private final List<String> lost;
  private final SchemaConverter converter;
  private final ObjectNode properties = JSON.objectNode();
  private final ArrayNode required = JSON.arrayNode();
  private final List<Parameter> parameters = new ArrayList<>();

  /** The operation cannot be offered. Has no stack trace; caught per operation. */
  static final class Unusable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unusable(String reason) {
      super(reason, null, false, false);
    }
  }

  OperationReader(
      Document document,
      ServerUrls serverUrls,
      OpenApiSource source,
      Operation.Location location,
      List<String> lost) {
    this.document = document;
    this.serverUrls = serverUrls;
    this.source = source;
    this.location = location;
    this.name = location.toString();
    this.lost = lost;
    this.converter = new SchemaConverter(document, SchemaConverter.Direction.REQUEST);
  }

  Api.OfferedOperation read(String tool, String description) {
    URI server = serverUrls.of(location.item(), location.node());
    Operation.Body body = body();
    declaredParameters().forEach(this::parameter);
    checkPath();
    ObjectNode input = JSON.objectNode().put("type", "object");
    input.set("properties", properties);
    if (!required.isEmpty()) {
      input.set("required", required);
    }
    input.put("additionalProperties", false);
    converter.addDefinitions(input);
    Operation operation =
        new Operation(
            location.method().toUpperCase(Locale.ROOT), server, location.path(), parameters, body);
    return new Api.OfferedOperation(
        operation, definition(tool, description, normalized(input), operation));
  }

  /** Removes invalid keywords: a single one would invalidate the whole schema. */
  private ObjectNode normalized(ObjectNode schema) {
    Reduction reduction = SchemaDialect.JSON_SCHEMA.reduce(schema);
    reduction.reductions().forEach(each -> lost.add(name + " " + each));
    return reduction.schema();
  }

  private JsonSlice definition(
      String tool, String description, ObjectNode input, Operation operation) {
    JsonNode node = location.node();
    ObjectNode definition = JSON.objectNode().put("name", tool);
    String summary = node.path("summary").asText("");
    if (!summary.isBlank()) {
      definition.put("title", summary);
    }
    String own = description == null ? node.path("description").asText("") : description;
    String ownOrSummary = own.isBlank() ? summary : own;
    String text = ownOrSummary.isBlank() ? name : ownOrSummary;
    definition.put("description", text.substring(0, Math.min(text.length(), MAX_DESCRIPTION)));
    definition.set("inputSchema", input);
    JsonNode output = source.outputSchemas() ? output(node) : null;
    if (output != null) {
      definition.set("outputSchema", output);
    }
    ObjectNode annotations = definition.putObject("annotations");
    annotations.put("readOnlyHint", operation.isSafe());
    if (!operation.isSafe()) {
      boolean isDelete = operation.method().equals("DELETE");
      if (source.confirmsUnsafeMethods() || isDelete) {
        annotations.put("destructiveHint", true);
      }
      annotations.put("idempotentHint", operation.isIdempotent());
    }
    annotations.put("openWorldHint", true);
    return Json.slice(definition);
  }

  /** Parameters of the operation and of its path; those of the operation take precedence. */
  private Collection<JsonNode> declaredParameters() {
    Map<String, JsonNode> all = new LinkedHashMap<>();
    for (JsonNode list :
        List.of(location.item().path("parameters"), location.node().path("parameters"))) {
      list.forEach(
          each -> {
            JsonNode resolved = document.follow(each);
            all.put(resolved.path("in").asText() + " " + resolved.path("name").asText(), resolved);
          });
    }
    return all.values();
  }

  private void parameter(JsonNode node) {
    String wireName = node.path("name").asText("");
    String place = node.path("in").asText();
    Parameter.In in = Parameter.In.of(place);
    String lower = wireName.toLowerCase(Locale.ROOT);
    if (in == Parameter.In.HEADER && NOT_PARAMETERS.contains(lower)) {
      return;
    }
    boolean isForbidden =
        in == Parameter.In.HEADER
            && (NEVER_SET.contains(lower)
                || lower.startsWith("mcp-")
                || !FIELD_NAME.matcher(wireName).matches());
    if (in == null || wireName.isEmpty() || isForbidden) {
      lost.add(name + ": omitted parameter '" + wireName + "' in " + place);
      if (node.path("required").asBoolean()) {
        throw new Unusable("it requires a parameter that cannot be sent: " + wireName);
      }
      return;
    }
    Parameter parameter = Parameter.of(node, ToolNames.key(wireName, place, properties::has));
    parameters.add(parameter);
    properties.set(parameter.key(), described(node, converter.schema(schemaOf(node))));
    if (parameter.required()) {
      required.add(parameter.key());
    }
  }

  private static JsonNode schemaOf(JsonNode parameter) {
    JsonNode content = parameter.path("content");
    return content.isEmpty()
        ? parameter.path("schema")
        : content.properties().iterator().next().getValue().path("schema");
  }

  private static JsonNode described(JsonNode node, JsonNode schema) {
    if (node.has("description") && schema instanceof ObjectNode object) {
      object.set("description", node.get("description"));
    }
    return schema;
  }

  private void checkPath() {
    String path = location.path();
    try {
      URI.create("http://api" + PLACEHOLDER.matcher(path).replaceAll("x"));
    } catch (IllegalArgumentException e) {
      throw new Unusable("its path contains an invalid character");
    }
    Matcher placeholders = PLACEHOLDER.matcher(path);
    while (placeholders.find()) {
      String placeholder = placeholders.group(1);
      boolean isDeclared =
          parameters.stream()
              .anyMatch(each -> each.in() == Parameter.In.PATH && each.name().equals(placeholder));
      if (!isDeclared) {
        throw new Unusable("its path contains {" + placeholder + "}, which is not a parameter");
      }
    }
  }

  private Operation.Body body() {
    JsonNode body = document.follow(location.node().path("requestBody"));
    Map.Entry<String, JsonNode> preferred = MediaTypes.preferred(body.path("content"));
    if (preferred == null) {
      return null;
    }
    JsonNode schema = preferred.getValue().path("schema");
    Map<String, JsonNode> fields = new LinkedHashMap<>();
    document
        .follow(schema)
        .path("properties")
        .forEachEntry((field, declared) -> fields.put(field, element(declared)));
    Map<String, JsonNode> encodings = new LinkedHashMap<>();
    preferred.getValue().path("encoding").forEachEntry(encodings::put);
    Operation.Body result =
        new Operation.Body(
            preferred.getKey(), body.path("required").asBoolean(), fields, encodings);
    boolean isRaw =
        !result.isJson() && !result.isForm() && !result.isMultipart() && !result.isText();
    JsonNode converted = isRaw ? MediaTypes.base64() : converter.schema(schema);
    properties.set(Operation.Body.KEY, described(body, converted));
    if (result.required()) {
      required.add(Operation.Body.KEY);
    }
    return result;
  }

  private JsonNode element(JsonNode schema) {
    JsonNode resolved = document.follow(schema);
    return resolved.has("items") ? document.follow(resolved.get("items")) : resolved;
  }

  /** Null unless the result is an object and every success response has a body. */
  private JsonNode output(JsonNode node) {
    JsonNode responses = node.path("responses");
    for (Map.Entry<String, JsonNode> response : responses.properties()) {
      boolean isSuccess = response.getKey().startsWith("2");
      if (isSuccess && document.follow(response.getValue()).path("content").isEmpty()) {
        return null;
      }
    }
    JsonNode success = document.follow(MediaTypes.successResponse(responses));
    JsonNode json = MediaTypes.json(success.path("content"));
    JsonNode resolved = document.follow(json.path("schema"));
    if (!resolved.path("type").asText("").equals("object")) {
      return null;
    }
    SchemaConverter response = new SchemaConverter(document, SchemaConverter.Direction.RESPONSE);
    ObjectNode output = (ObjectNode) response.schema(resolved);
    response.addDefinitions(output);
    ObjectNode normalized = normalized(output);
    if (Json.slice(normalized).length() > MAX_OUTPUT_SCHEMA) {
      lost.add(name + ": omitted output schema of more than " + MAX_OUTPUT_SCHEMA + " bytes");
      return null;
    }
    return normalized;
  }
}
