package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Converts a Swagger 2.0 document to OpenAPI 3.0. Definitions and responses stay where they are, so
 * that references to them remain valid; parameters are resolved.
 */
final class Swagger2 {
  private static final Set<String> NOT_IN_SCHEMA =
      Set.of("name", "in", "description", "required", "allowEmptyValue", "collectionFormat");

  private final ObjectNode swagger;
  private final Document original;

  Swagger2(ObjectNode swagger) {
    this.swagger = swagger;
    this.original = new Document(swagger);
  }

  ObjectNode converted() {
    ObjectNode document = copy(swagger).put("openapi", "3.0.3");
    servers(document);
    convert(document, "responses", response -> response(response, swagger));
    convert(document, "paths", this::path);
    return document;
  }

  /** A copy that shares its members with the given object; empty if it is not an object. */
  private static ObjectNode copy(JsonNode object) {
    ObjectNode copy = Json.object();
    object.forEachEntry(copy::set);
    return copy;
  }

  /** Converts each value of a map in an object. */
  private static void convert(ObjectNode object, String map, UnaryOperator<JsonNode> conversion) {
    JsonNode original = object.path(map);
    ObjectNode converted = object.putObject(map);
    original.forEachEntry((name, value) -> converted.set(name, conversion.apply(value)));
  }

  /** If no scheme is declared, the URL is relative to that of the document. */
  private void servers(ObjectNode document) {
    String host = swagger.path("host").asText("");
    String base = swagger.path("basePath").asText("");
    List<String> schemes = types(swagger, "schemes");
    String scheme =
        schemes.contains("https") ? "https:" : schemes.isEmpty() ? "" : schemes.get(0) + ":";
    String relative = base.isEmpty() ? "/" : base;
    document
        .putArray("servers")
        .addObject()
        .put("url", host.isEmpty() ? relative : scheme + "//" + host + base);
  }

  private ObjectNode path(JsonNode declared) {
    JsonNode item = original.follow(declared);
    ObjectNode path = Json.object();
    for (String method : ApiReader.METHODS) {
      if (item.path(method).isObject()) {
        path.set(method, operation(item.get(method), item.path("parameters")));
      }
    }
    return path;
  }

  private ObjectNode operation(JsonNode operation, JsonNode common) {
    ObjectNode converted = copy(operation);
    ArrayNode parameters = converted.putArray("parameters");
    ObjectNode form = Json.object().put("type", "object");
    ObjectNode fields = form.putObject("properties");
    ArrayNode required = Json.object().arrayNode();
    boolean hasFiles = false;
    for (JsonNode list : List.of(common, operation.path("parameters"))) {
      for (JsonNode declared : list) {
        JsonNode parameter = original.follow(declared);
        switch (parameter.path("in").asText()) {
          case "body" -> body(converted, parameter);
          case "formData" -> {
            hasFiles |= parameter.path("type").asText().equals("file");
            fields.set(parameter.path("name").asText(), field(parameter));
            if (parameter.path("required").asBoolean()) {
              required.add(parameter.path("name").asText());
            }
          }
          default -> parameters.add(parameter(parameter));
        }
      }
    }
    if (!fields.isEmpty()) {
      boolean isMultipart =
          hasFiles || types(operation, "consumes").contains("multipart/form-data");
      String type = isMultipart ? "multipart/form-data" : "application/x-www-form-urlencoded";
      if (!required.isEmpty()) {
        form.set("required", required);
      }
      content(requestBody(converted, !required.isEmpty()), List.of(type), form);
    }
    convert(converted, "responses", response -> response(response, operation));
    return converted;
  }

  private void body(ObjectNode operation, JsonNode parameter) {
    ObjectNode body = requestBody(operation, parameter.path("required").asBoolean());
    if (parameter.has("description")) {
      body.set("description", parameter.get("description"));
    }
    content(body, jsonOr(types(operation, "consumes")), parameter.path("schema"));
  }

  private static ObjectNode requestBody(ObjectNode operation, boolean isRequired) {
    return operation.putObject("requestBody").put("required", isRequired);
  }

  private static void content(ObjectNode message, List<String> types, JsonNode schema) {
    ObjectNode content = message.putObject("content");
    types.forEach(type -> content.putObject(type).set("schema", schema));
  }

  private static ObjectNode field(JsonNode parameter) {
    ObjectNode schema = schema(parameter);
    if (parameter.path("type").asText().equals("file")) {
      schema.put("type", "string").put("format", "binary");
    }
    if (parameter.has("description")) {
      schema.set("description", parameter.get("description"));
    }
    return schema;
  }

  private static ObjectNode parameter(JsonNode source) {
    ObjectNode parameter = copy(source);
    parameter.set("schema", schema(source));
    if (source.path("in").asText().equals("query")) {
      String collection = source.path("collectionFormat").asText("csv");
      String style =
          switch (collection) {
            case "pipes" -> "pipeDelimited";
            case "ssv" -> "spaceDelimited";
            default -> "form";
          };
      parameter.put("style", style).put("explode", collection.equals("multi"));
    }
    return parameter;
  }

  private static ObjectNode schema(JsonNode parameter) {
    return copy(parameter).remove(NOT_IN_SCHEMA);
  }

  private JsonNode response(JsonNode response, JsonNode operation) {
    if (response.has("$ref")) {
      return response;
    }
    ObjectNode converted = copy(response);
    if (response.has("schema")) {
      content(converted, jsonOr(types(operation, "produces")), response.get("schema"));
    }
    return converted;
  }

  /** Media types of an operation, else of the document. */
  private List<String> types(JsonNode operation, String key) {
    JsonNode own = operation.has(key) ? operation.get(key) : swagger.path(key);
    return own.valueStream().map(JsonNode::asText).toList();
  }

  private static List<String> jsonOr(List<String> types) {
    return types.isEmpty() ? List.of("application/json") : types;
  }
}
