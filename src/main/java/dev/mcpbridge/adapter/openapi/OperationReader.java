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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Makes a tool of an operation: its input schema, its output schema, and how it is called. */
final class OperationReader {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final int MAX_OUTPUT_SCHEMA = 64 << 10;
  private static final int MAX_DESCRIPTION = 4_096;

  /** OpenAPI 3.1 section 4.8.12: they are described elsewhere in the document. */
  private static final Set<String> NOT_PARAMETERS =
      Set.of("accept", "accept-encoding", "content-type", "authorization");

  /** They say where a request goes, how long it is, or who sends it. */
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

  private static final Pattern HOLE = Pattern.compile("\\{([^{}]+)}");

  private final Document document;
  private final ServerUrls serverUrls;
  private final OpenApiSource source;
  private final String name;
  private final List<String> lost;

  /** It cannot be called; a stackless exception, caught where operations are gone through. */
  static final class Unusable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unusable(String why) {
      super(why, null, false, false);
    }
  }

  OperationReader(
      Document document,
      ServerUrls serverUrls,
      OpenApiSource source,
      String name,
      List<String> lost) {
    this.document = document;
    this.serverUrls = serverUrls;
    this.source = source;
    this.name = name;
    this.lost = lost;
  }

  Api.OfferedOperation read(
      Operation.OperationLocation operationLocation, String tool, String description) {
    SchemaConverter schemaConverter =
        new SchemaConverter(document, SchemaConverter.Direction.REQUEST);
    ObjectNode input = JSON.objectNode().put("type", "object");
    ObjectNode properties = input.putObject("properties");
    ArrayNode required = JSON.arrayNode();
    URI server = serverUrls.of(operationLocation.item(), operationLocation.node());
    Operation.Body body = body(operationLocation.node(), schemaConverter, properties, required);
    List<Parameter> parameters = new ArrayList<>();
    for (JsonNode node : parameters(operationLocation)) {
      parameter(node, schemaConverter, properties, required, parameters);
    }
    checkPath(operationLocation.path(), parameters);
    if (!required.isEmpty()) {
      input.set("required", required);
    }
    input.put("additionalProperties", false);
    schemaConverter.define(input);
    Operation operation =
        new Operation(
            operationLocation.method().toUpperCase(Locale.ROOT),
            server,
            operationLocation.path(),
            parameters,
            body);
    return new Api.OfferedOperation(
        operation, definition(tool, description, operationLocation.node(), sane(input), operation));
  }

  /** Without what is no JSON Schema: one wrong keyword would make the whole of it useless. */
  private ObjectNode sane(ObjectNode schema) {
    Reduction reduction = SchemaDialect.JSON_SCHEMA.reduce(schema);
    reduction.lost().forEach(each -> lost.add(name + " " + each));
    return reduction.schema();
  }

  private JsonSlice definition(
      String tool, String description, JsonNode node, ObjectNode input, Operation operation) {
    ObjectNode definition = JSON.objectNode().put("name", tool);
    String summary = node.path("summary").asText("");
    if (!summary.isBlank()) {
      definition.put("title", summary);
    }
    String words = description == null ? node.path("description").asText("") : description;
    String said = words.isBlank() ? summary : words;
    String known = said.isBlank() ? name : said;
    definition.put("description", known.substring(0, Math.min(known.length(), MAX_DESCRIPTION)));
    definition.set("inputSchema", input);
    JsonNode output = source.outputSchemas() ? output(node) : null;
    if (output != null) {
      definition.set("outputSchema", output);
    }
    ObjectNode annotations = definition.putObject("annotations");
    annotations.put("readOnlyHint", operation.isSafe());
    if (!operation.isSafe()) {
      boolean isDelete = operation.method().equals("DELETE");
      if (source.destructive() || isDelete) {
        annotations.put("destructiveHint", true);
      }
      annotations.put("idempotentHint", operation.isIdempotent());
    }
    annotations.put("openWorldHint", true);
    return Json.slice(definition);
  }

  /** Those of the path, unless the operation has the same for itself. */
  private List<JsonNode> parameters(Operation.OperationLocation operationLocation) {
    Map<String, JsonNode> all = new LinkedHashMap<>();
    for (JsonNode list :
        List.of(
            operationLocation.item().path("parameters"),
            operationLocation.node().path("parameters"))) {
      list.forEach(
          each -> {
            JsonNode meant = document.follow(each);
            all.put(meant.path("in").asText() + " " + meant.path("name").asText(), meant);
          });
    }
    return List.copyOf(all.values());
  }

  private void parameter(
      JsonNode node,
      SchemaConverter schemaConverter,
      ObjectNode properties,
      ArrayNode required,
      List<Parameter> parameters) {
    String wire = node.path("name").asText("");
    Parameter.In in = Parameter.In.of(node.path("in").asText());
    String lower = wire.toLowerCase(Locale.ROOT);
    if (in == Parameter.In.HEADER && NOT_PARAMETERS.contains(lower)) {
      return;
    }
    boolean isForbidden =
        in == Parameter.In.HEADER
            && (NEVER_SET.contains(lower)
                || lower.startsWith("mcp-")
                || !FIELD_NAME.matcher(wire).matches());
    if (in == null || wire.isEmpty() || isForbidden) {
      lost.add(name + ": the parameter '" + wire + "' in " + node.path("in").asText());
      if (node.path("required").asBoolean()) {
        throw new Unusable("it needs a parameter that cannot be sent: " + wire);
      }
      return;
    }
    Map<String, JsonNode> taken = new LinkedHashMap<>();
    properties.properties().forEach(each -> taken.put(each.getKey(), each.getValue()));
    Parameter parameter = Parameter.of(node, ToolNames.key(wire, node.path("in").asText(), taken));
    parameters.add(parameter);
    properties.set(parameter.key(), described(node, schemaConverter.schema(schemaOf(node))));
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
      ObjectNode copy = object.deepCopy();
      copy.set("description", node.get("description"));
      return copy;
    }
    return schema;
  }

  private void checkPath(String path, List<Parameter> parameters) {
    try {
      URI.create("http://api" + HOLE.matcher(path).replaceAll("x"));
    } catch (IllegalArgumentException e) {
      throw new Unusable("its path has a character that no path can have");
    }
    Matcher holes = HOLE.matcher(path);
    while (holes.find()) {
      String hole = holes.group(1);
      boolean isKnown =
          parameters.stream()
              .anyMatch(each -> each.in() == Parameter.In.PATH && each.name().equals(hole));
      if (!isKnown) {
        throw new Unusable("its path has a {" + hole + "} that no parameter fills");
      }
    }
  }

  private Operation.Body body(
      JsonNode node, SchemaConverter schemaConverter, ObjectNode properties, ArrayNode required) {
    JsonNode body = document.follow(node.path("requestBody"));
    Map.Entry<String, JsonNode> chosen = MediaTypes.chosen(body.path("content"));
    if (chosen == null) {
      return null;
    }
    JsonNode schema = document.follow(chosen.getValue().path("schema"));
    Map<String, JsonNode> fields = new LinkedHashMap<>();
    schema
        .path("properties")
        .properties()
        .forEach(each -> fields.put(each.getKey(), element(each.getValue())));
    Map<String, JsonNode> encodings = new LinkedHashMap<>();
    chosen
        .getValue()
        .path("encoding")
        .properties()
        .forEach(each -> encodings.put(each.getKey(), each.getValue()));
    Operation.Body known =
        new Operation.Body(chosen.getKey(), body.path("required").asBoolean(), fields, encodings);
    boolean isRaw = !known.isJson() && !known.isForm() && !known.isMultipart() && !known.isText();
    JsonNode shown =
        isRaw ? MediaTypes.base64() : schemaConverter.schema(chosen.getValue().path("schema"));
    properties.set(Operation.Body.KEY, described(body, shown));
    if (known.required()) {
      required.add(Operation.Body.KEY);
    }
    return known;
  }

  private JsonNode element(JsonNode schema) {
    JsonNode meant = document.follow(schema);
    return meant.has("items") ? document.follow(meant.get("items")) : meant;
  }

  /** An object is what structured content can be, and only where all that is well has one. */
  private JsonNode output(JsonNode node) {
    JsonNode responses = node.path("responses");
    for (Map.Entry<String, JsonNode> response : responses.properties()) {
      boolean isSuccess = response.getKey().startsWith("2");
      if (isSuccess && document.follow(response.getValue()).path("content").isEmpty()) {
        return null;
      }
    }
    JsonNode response = document.follow(MediaTypes.success(responses));
    JsonNode json = MediaTypes.json(response.path("content"));
    JsonNode meant = document.follow(json.path("schema"));
    if (!meant.path("type").asText("").equals("object")) {
      return null;
    }
    SchemaConverter schemaConverter =
        new SchemaConverter(document, SchemaConverter.Direction.ANSWER);
    if (!(schemaConverter.schema(meant) instanceof ObjectNode output)) {
      return null;
    }
    schemaConverter.define(output);
    ObjectNode sane = sane(output);
    if (Json.slice(sane).length() > MAX_OUTPUT_SCHEMA) {
      lost.add(name + ": an output schema of more than " + MAX_OUTPUT_SCHEMA + " bytes");
      return null;
    }
    return sane;
  }
}
