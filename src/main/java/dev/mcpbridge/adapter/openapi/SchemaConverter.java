package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Schemas;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Converts the schemas of a document to JSON Schema 2020-12. Referenced schemas are copied to
 * {@code $defs} once, even if references are cyclic. Each resulting schema needs its own converter.
 */
final class SchemaConverter {
  private static final List<String> OPENAPI_ONLY =
      List.of("nullable", "discriminator", "xml", "externalDocs", "example");

  private final Document document;
  private final Direction direction;
  private final Map<JsonNode, String> names = new LinkedHashMap<>();
  private final Deque<JsonNode> pending = new ArrayDeque<>();

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

  /** A converted copy; its references point to {@code $defs}, see {@link #addDefinitions}. */
  JsonNode schema(JsonNode node) {
    JsonNode copy = node.isMissingNode() ? Json.object() : node.deepCopy();
    Schemas.each(copy, (pointer, schema) -> convert(schema));
    return copy;
  }

  /** Adds {@code $defs} with all schemas referenced so far, directly or indirectly. */
  void addDefinitions(ObjectNode root) {
    if (pending.isEmpty()) {
      return;
    }
    ObjectNode definitions = root.putObject("$defs");
    while (!pending.isEmpty()) {
      JsonNode reference = pending.poll();
      definitions.set(names.get(reference), schema(document.target(reference)));
    }
  }

  /** Converts the keywords of one schema, before its subschemas are converted. */
  private void convert(ObjectNode schema) {
    if (schema.path("$ref").isTextual()) {
      reference(schema);
      return;
    }
    boolean isNullable = schema.path("nullable").asBoolean();
    schema.remove(OPENAPI_ONLY);
    schema.properties().removeIf(keyword -> keyword.getKey().startsWith("x-"));
    removeOmittedFromRequired(schema);
    exclusive(schema, "minimum", "exclusiveMinimum");
    exclusive(schema, "maximum", "exclusiveMaximum");
    if (isNullable) {
      nullable(schema);
    }
  }

  private void reference(ObjectNode schema) {
    JsonNode reference = schema.get("$ref");
    JsonNode description = document.isBefore31() ? null : schema.get("description");
    schema.removeAll();
    if (!document.target(reference).isMissingNode()) {
      schema.put("$ref", "#/$defs/" + nameOf(reference));
      if (description != null) {
        schema.set("description", description);
      }
    }
  }

  private String nameOf(JsonNode reference) {
    String existing = names.get(reference);
    if (existing != null) {
      return existing;
    }
    String text = reference.textValue();
    String name = text.substring(text.lastIndexOf('/') + 1).replaceAll("[^A-Za-z0-9_.-]", "_");
    while (names.containsValue(name)) {
      name += "_";
    }
    names.put(reference, name);
    pending.add(reference);
    return name;
  }

  /** Until OpenAPI 3.0 exclusive bounds were boolean modifiers of the bounds. */
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
    if (schema.path("enum") instanceof ArrayNode values
        && values.valueStream().noneMatch(JsonNode::isNull)) {
      values.addNull();
    }
    if (type.isMissingNode() && !schema.isEmpty() && !schema.has("enum")) {
      ObjectNode nonNull = schema.deepCopy();
      schema.removeAll();
      schema.putArray("anyOf").add(nonNull).addObject().put("type", "null");
    }
  }

  private void removeOmittedFromRequired(ObjectNode schema) {
    if (schema.path("required") instanceof ArrayNode required && !required.isEmpty()) {
      required.removeIf(
          name -> {
            JsonNode property = document.follow(schema.path("properties").path(name.asText()));
            return property.path(direction.omittedKeyword).asBoolean();
          });
      if (required.isEmpty()) {
        schema.remove("required");
      }
    }
  }
}
