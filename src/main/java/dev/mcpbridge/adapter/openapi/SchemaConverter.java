package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * JSON Schemas of 2020-12 out of the schemas of a document: what a schema refers to goes with it,
 * under {@code $defs}, once and whatever refers to whom. One for each schema that stands alone.
 */
final class SchemaConverter {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final Set<String> OPENAPI_ONLY =
      Set.of("nullable", "discriminator", "xml", "externalDocs", "example");
  private static final Set<String> MAPS =
      Set.of("properties", "patternProperties", "$defs", "definitions", "dependentSchemas");
  private static final Set<String> VALUES = Set.of("enum", "const", "default", "examples");

  private final Document document;
  private final Direction direction;
  private final Map<String, String> names = new LinkedHashMap<>();
  private final Deque<String> missing = new ArrayDeque<>();

  /** Whose values they are: a request has none that are only read, an answer none only written. */
  enum Direction {
    REQUEST("readOnly"),
    ANSWER("writeOnly");

    private final String absent;

    Direction(String absent) {
      this.absent = absent;
    }
  }

  SchemaConverter(Document document, Direction direction) {
    this.document = document;
    this.direction = direction;
  }

  /** One schema, whose references are to {@link #definitions}. */
  JsonNode schema(JsonNode node) {
    return converted(node);
  }

  /** Adds what was referred to so far, and what that refers to. */
  void define(ObjectNode root) {
    if (missing.isEmpty()) {
      return;
    }
    ObjectNode definitions = root.putObject("$defs");
    while (!missing.isEmpty()) {
      String reference = missing.poll();
      definitions.set(names.get(reference), converted(document.target(reference)));
    }
  }

  private JsonNode converted(JsonNode node) {
    if (node.isBoolean()) {
      return node;
    }
    if (!node.isObject()) {
      return JSON.objectNode();
    }
    ObjectNode schema = JSON.objectNode();
    if (node.path("$ref").isTextual()) {
      return reference(schema, node);
    }
    node.properties().forEach(each -> keyword(schema, each.getKey(), each.getValue()));
    bounds(schema);
    if (node.path("nullable").asBoolean()) {
      nullable(schema);
    }
    unrequire(schema, node);
    return schema;
  }

  private JsonNode reference(ObjectNode schema, JsonNode node) {
    String reference = node.get("$ref").textValue();
    if (!document.target(reference).isObject() && !document.target(reference).isBoolean()) {
      return schema;
    }
    schema.put("$ref", "#/$defs/" + nameOf(reference));
    if (!document.isBefore31() && node.has("description")) {
      schema.set("description", node.get("description"));
    }
    return schema;
  }

  private String nameOf(String reference) {
    String known = names.get(reference);
    if (known != null) {
      return known;
    }
    String last = reference.substring(reference.lastIndexOf('/') + 1);
    String name = last.replaceAll("[^A-Za-z0-9_.-]", "_");
    while (names.containsValue(name)) {
      name += "_";
    }
    names.put(reference, name);
    missing.add(reference);
    return name;
  }

  private void keyword(ObjectNode schema, String name, JsonNode value) {
    if (OPENAPI_ONLY.contains(name) || name.startsWith("x-")) {
      return;
    }
    if (name.equals("dependentRequired")) {
      schema.set(name, value);
    } else if (MAPS.contains(name) && value.isObject()) {
      ObjectNode map = schema.putObject(name);
      value.properties().forEach(each -> map.set(each.getKey(), converted(each.getValue())));
    } else if (VALUES.contains(name)
        || !value.isContainerNode()
        || name.equals("required")
        || name.equals("type")) {
      schema.set(name, value);
    } else if (value instanceof ArrayNode array) {
      ArrayNode list = schema.putArray(name);
      array.forEach(each -> list.add(each.isContainerNode() ? converted(each) : each));
    } else {
      schema.set(name, converted(value));
    }
  }

  /** Until 3.0 the exclusive bounds were flags beside the bounds. */
  private static void bounds(ObjectNode schema) {
    exclusive(schema, "minimum", "exclusiveMinimum");
    exclusive(schema, "maximum", "exclusiveMaximum");
  }

  private static void exclusive(ObjectNode schema, String inclusive, String exclusive) {
    JsonNode flag = schema.path(exclusive);
    if (flag.isBoolean()) {
      schema.remove(exclusive);
      if (flag.booleanValue() && schema.has(inclusive)) {
        schema.set(exclusive, schema.remove(inclusive));
      }
    }
  }

  private static void nullable(ObjectNode schema) {
    JsonNode type = schema.path("type");
    if (type.isTextual()) {
      schema.putArray("type").add(type.textValue()).add("null");
    }
    if (schema.path("enum") instanceof ArrayNode values) {
      ArrayNode more = values.deepCopy();
      boolean hasNull = false;
      for (JsonNode value : values) {
        hasNull |= value.isNull();
      }
      schema.set("enum", hasNull ? more : more.addNull());
    }
    if (type.isMissingNode() && schema.size() > 0 && !schema.has("enum")) {
      ObjectNode meant = schema.deepCopy();
      schema.removeAll();
      schema.putArray("anyOf").add(meant).addObject().put("type", "null");
    }
  }

  private void unrequire(ObjectNode schema, JsonNode node) {
    if (schema.path("required") instanceof ArrayNode required && !required.isEmpty()) {
      ArrayNode kept = JSON.arrayNode();
      required.forEach(
          name -> {
            JsonNode property = document.follow(node.path("properties").path(name.asText()));
            if (!property.path(direction.absent).asBoolean()) {
              kept.add(name);
            }
          });
      schema.set("required", kept);
      if (kept.isEmpty()) {
        schema.remove("required");
      }
    }
  }
}
