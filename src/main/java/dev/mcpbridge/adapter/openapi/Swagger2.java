package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Converts a Swagger 2.0 document to OpenAPI 3.0. */
final class Swagger2 {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final Set<String> METHODS =
      Set.of("get", "put", "post", "delete", "options", "head", "patch");
  private static final Map<String, String> MOVED =
      Map.of(
          "#/definitions/", "#/components/schemas/",
          "#/parameters/", "#/components/parameters/",
          "#/responses/", "#/components/responses/");
  private static final Set<String> NOT_IN_SCHEMA =
      Set.of("name", "in", "description", "required", "allowEmptyValue", "collectionFormat");

  private final ObjectNode swagger;

  Swagger2(ObjectNode swagger) {
    this.swagger = swagger;
  }

  ObjectNode converted() {
    ObjectNode document = JSON.objectNode().put("openapi", "3.0.3");
    document.set("info", swagger.path("info"));
    servers(document);
    ObjectNode components = document.putObject("components");
    components.set("schemas", moved(swagger.path("definitions")));
    ObjectNode parameters = components.putObject("parameters");
    swagger
        .path("parameters")
        .properties()
        .forEach(each -> parameters.set(each.getKey(), parameter(each.getValue())));
    ObjectNode responses = components.putObject("responses");
    swagger
        .path("responses")
        .properties()
        .forEach(each -> responses.set(each.getKey(), response(each.getValue(), swagger)));
    ObjectNode paths = document.putObject("paths");
    swagger
        .path("paths")
        .properties()
        .forEach(each -> paths.set(each.getKey(), path(each.getValue())));
    return document;
  }

  /** If no scheme is declared, the URL is relative to that of the document. */
  private void servers(ObjectNode document) {
    String host = swagger.path("host").asText("");
    String base = swagger.path("basePath").asText("");
    ArrayNode servers = document.putArray("servers");
    List<String> schemes = new ArrayList<>();
    swagger.path("schemes").forEach(scheme -> schemes.add(scheme.asText()));
    if (host.isEmpty()) {
      servers.addObject().put("url", base.isEmpty() ? "/" : base);
      return;
    }
    String scheme =
        schemes.contains("https") ? "https:" : schemes.isEmpty() ? "" : schemes.get(0) + ":";
    servers.addObject().put("url", scheme + "//" + host + base);
  }

  private ObjectNode path(JsonNode declared) {
    JsonNode item = new Document(swagger).follow(declared);
    ObjectNode path = JSON.objectNode();
    List<JsonNode> common = new ArrayList<>();
    item.path("parameters").forEach(common::add);
    item.properties()
        .forEach(
            each -> {
              if (METHODS.contains(each.getKey()) && each.getValue().isObject()) {
                path.set(each.getKey(), operation(each.getValue(), common));
              }
            });
    return path;
  }

  private ObjectNode operation(JsonNode operation, List<JsonNode> common) {
    ObjectNode converted = JSON.objectNode();
    for (String name :
        List.of("operationId", "summary", "description", "tags", "deprecated", "security")) {
      if (operation.has(name)) {
        converted.set(name, operation.get(name));
      }
    }
    List<JsonNode> all = new ArrayList<>(common);
    operation.path("parameters").forEach(all::add);
    ArrayNode parameters = converted.putArray("parameters");
    ObjectNode fields = JSON.objectNode();
    ArrayNode required = JSON.arrayNode();
    boolean hasFiles = false;
    for (JsonNode parameter : all) {
      JsonNode resolved = resolved(parameter);
      switch (resolved.path("in").asText()) {
        case "body" -> body(converted, resolved, types(operation, "consumes", "application/json"));
        case "formData" -> {
          hasFiles |= resolved.path("type").asText().equals("file");
          fields.set(resolved.path("name").asText(), field(resolved));
          if (resolved.path("required").asBoolean()) {
            required.add(resolved.path("name").asText());
          }
        }
        default -> parameters.add(parameter(resolved));
      }
    }
    if (!fields.isEmpty()) {
      form(converted, operation, fields, required, hasFiles);
    }
    ObjectNode responses = converted.putObject("responses");
    operation
        .path("responses")
        .properties()
        .forEach(each -> responses.set(each.getKey(), response(each.getValue(), operation)));
    return converted;
  }

  private JsonNode resolved(JsonNode parameter) {
    String reference = parameter.path("$ref").asText("");
    return reference.startsWith("#/parameters/")
        ? swagger.path("parameters").path(reference.substring("#/parameters/".length()))
        : parameter;
  }

  private void body(ObjectNode operation, JsonNode parameter, List<String> types) {
    ObjectNode body = operation.putObject("requestBody");
    body.put("required", parameter.path("required").asBoolean());
    if (parameter.has("description")) {
      body.set("description", parameter.get("description"));
    }
    ObjectNode content = body.putObject("content");
    types.forEach(type -> content.putObject(type).set("schema", moved(parameter.path("schema"))));
  }

  private void form(
      ObjectNode operation, JsonNode source, ObjectNode fields, ArrayNode required, boolean files) {
    ObjectNode schema = JSON.objectNode().put("type", "object");
    schema.set("properties", fields);
    if (!required.isEmpty()) {
      schema.set("required", required);
    }
    boolean isMultipart = files || types(source, "consumes", "").contains("multipart/form-data");
    operation
        .putObject("requestBody")
        .put("required", !required.isEmpty())
        .putObject("content")
        .putObject(isMultipart ? "multipart/form-data" : "application/x-www-form-urlencoded")
        .set("schema", schema);
  }

  private JsonNode field(JsonNode parameter) {
    ObjectNode schema = schema(parameter);
    if (parameter.path("type").asText().equals("file")) {
      schema.put("type", "string").put("format", "binary");
    }
    if (parameter.has("description")) {
      schema.set("description", parameter.get("description"));
    }
    return schema;
  }

  private JsonNode parameter(JsonNode source) {
    if (source.has("$ref")) {
      return moved(source);
    }
    ObjectNode parameter = JSON.objectNode();
    for (String name : List.of("name", "in", "description", "required", "allowEmptyValue")) {
      if (source.has(name)) {
        parameter.set(name, source.get(name));
      }
    }
    parameter.set("schema", schema(source));
    style(parameter, source.path("in").asText(), source.path("collectionFormat").asText("csv"));
    return parameter;
  }

  private static void style(ObjectNode parameter, String in, String collection) {
    if (in.equals("query")) {
      switch (collection) {
        case "multi" -> parameter.put("style", "form").put("explode", true);
        case "pipes" -> parameter.put("style", "pipeDelimited").put("explode", false);
        case "ssv" -> parameter.put("style", "spaceDelimited").put("explode", false);
        default -> parameter.put("style", "form").put("explode", false);
      }
    }
  }

  private ObjectNode schema(JsonNode parameter) {
    ObjectNode schema = JSON.objectNode();
    parameter
        .properties()
        .forEach(
            each -> {
              if (!NOT_IN_SCHEMA.contains(each.getKey()) && !each.getKey().startsWith("x-")) {
                schema.set(each.getKey(), moved(each.getValue()));
              }
            });
    return schema;
  }

  private JsonNode response(JsonNode response, JsonNode operation) {
    if (response.has("$ref")) {
      return moved(response);
    }
    ObjectNode converted = JSON.objectNode();
    converted.put("description", response.path("description").asText(""));
    if (response.has("schema")) {
      ObjectNode content = converted.putObject("content");
      types(operation, "produces", "application/json")
          .forEach(type -> content.putObject(type).set("schema", moved(response.path("schema"))));
    }
    return converted;
  }

  private List<String> types(JsonNode operation, String key, String defaultType) {
    List<String> types = new ArrayList<>();
    JsonNode own = operation.has(key) ? operation.get(key) : swagger.path(key);
    own.forEach(type -> types.add(type.asText()));
    return types.isEmpty() && !defaultType.isEmpty() ? List.of(defaultType) : types;
  }

  /** A copy with references adjusted to the new locations of their targets. */
  private static JsonNode moved(JsonNode node) {
    if (node instanceof ObjectNode object) {
      ObjectNode copy = JSON.objectNode();
      object
          .properties()
          .forEach(
              each ->
                  copy.set(
                      each.getKey(),
                      each.getKey().equals("$ref") && each.getValue().isTextual()
                          ? JSON.textNode(moved(each.getValue().textValue()))
                          : moved(each.getValue())));
      return copy;
    }
    if (node instanceof ArrayNode array) {
      ArrayNode copy = JSON.arrayNode();
      array.forEach(each -> copy.add(moved(each)));
      return copy;
    }
    return node.isMissingNode() ? JSON.objectNode() : node;
  }

  private static String moved(String reference) {
    return MOVED.entrySet().stream()
        .filter(move -> reference.startsWith(move.getKey()))
        .findFirst()
        .map(move -> move.getValue() + reference.substring(move.getKey().length()))
        .orElse(reference);
  }
}
