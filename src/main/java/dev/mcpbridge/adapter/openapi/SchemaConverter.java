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
 * Converts the schemas of a document to JSON Schema 2020-12. Referenced schemas are copied to
 * {@code $defs} once, even if references are cyclic. Each resulting schema needs its own converter.
 */
final class SchemaConverter {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final Set<String> OPENAPI_ONLY =
      Set.of("nullable", "discriminator", "xml", "externalDocs", "example");
  private static final Set<String> SCHEMA_MAPS =
      Set.of("properties", "patternProperties", "$defs", "definitions", "dependentSchemas");
  private static final Set<String> INSTANCE_VALUES = Set.of("enum", "const", "default", "examples");

  private final Document document;
  private final Direction direction;
  private final Map<String, String> names = new LinkedHashMap<>();
  private final Deque<String> pending = new ArrayDeque<>();

  /** A request omits {@code readOnly} properties, a response omits {@code writeOnly} ones. */
  enum Direction {
    REQUEST("readOnly"),
    RESPONSE("writeOnly");

    private final String omittedKeyword;

    Direction(String omittedKeyword) {
      this.omittedKeyword = omittedKeyword;
    }
  }

  SchemaConverter(Document document, Direction direction) {
    this.document = document;
    this.direction = direction;
  }

  /** Converts a schema; its references point to {@code $defs}, see {@link #addDefinitions}. */
  JsonNode schema(JsonNode node) {
    return converted(node);
  }

  /** Adds {@code $defs} with all schemas referenced so far, directly or indirectly. */
  void addDefinitions(ObjectNode root) {
    if (pending.isEmpty()) {
      return;
    }
    ObjectNode definitions = root.putObject("$defs");
    while (!pending.isEmpty()) {
      String reference = pending.poll();
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
    removeOmittedFromRequired(schema, node);
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
    String existing = names.get(reference);
    if (existing != null) {
      return existing;
    }
    String last = reference.substring(reference.lastIndexOf('/') + 1);
    String name = last.replaceAll("[^A-Za-z0-9_.-]", "_");
    while (names.containsValue(name)) {
      name += "_";
    }
    names.put(reference, name);
    pending.add(reference);
    return name;
  }

  private void keyword(ObjectNode schema, String name, JsonNode value) {
    if (OPENAPI_ONLY.contains(name) || name.startsWith("x-")) {
      return;
    }
    if (name.equals("dependentRequired")) {
      schema.set(name, value);
    } else if (SCHEMA_MAPS.contains(name) && value.isObject()) {
      ObjectNode map = schema.putObject(name);
      value.properties().forEach(each -> map.set(each.getKey(), converted(each.getValue())));
    } else if (INSTANCE_VALUES.contains(name)
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

  /** Until OpenAPI 3.0 exclusive bounds were boolean modifiers of the bounds. */
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
      ArrayNode nullableValues = values.deepCopy();
      boolean hasNull = false;
      for (JsonNode value : values) {
        hasNull |= value.isNull();
      }
      schema.set("enum", hasNull ? nullableValues : nullableValues.addNull());
    }
    if (type.isMissingNode() && schema.size() > 0 && !schema.has("enum")) {
      ObjectNode nonNull = schema.deepCopy();
      schema.removeAll();
      schema.putArray("anyOf").add(nonNull).addObject().put("type", "null");
    }
  }

  private void removeOmittedFromRequired(ObjectNode schema, JsonNode node) {
    if (schema.path("required") instanceof ArrayNode required && !required.isEmpty()) {
      ArrayNode remaining = JSON.arrayNode();
      required.forEach(
          name -> {
            JsonNode property = document.follow(node.path("properties").path(name.asText()));
            if (!property.path(direction.omittedKeyword).asBoolean()) {
              remaining.add(name);
            }
          });
      schema.set("required", remaining);
      if (remaining.isEmpty()) {
        schema.remove("required");
      }
    }
  }
}
