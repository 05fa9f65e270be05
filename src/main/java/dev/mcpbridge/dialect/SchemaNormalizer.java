package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Normalises a schema to valid JSON Schema 2020-12. Syntax of older drafts is converted, references
 * that cannot be resolved within the document are removed and so accept anything, and invalid
 * keywords are removed.
 */
final class SchemaNormalizer {
  static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  static final Set<String> TYPES =
      Set.of("object", "array", "string", "number", "integer", "boolean", "null");

  static final Set<String> SCHEMA_KEYWORDS =
      Set.of(
          "items",
          "additionalProperties",
          "not",
          "if",
          "then",
          "else",
          "contains",
          "propertyNames",
          "unevaluatedItems",
          "unevaluatedProperties");
  static final Set<String> SCHEMA_LIST_KEYWORDS = Set.of("allOf", "anyOf", "oneOf", "prefixItems");
  static final Set<String> SCHEMA_MAP_KEYWORDS =
      Set.of("properties", "patternProperties", "$defs", "definitions", "dependentSchemas");
  private static final Map<String, Predicate<JsonNode>> VALUES =
      Map.ofEntries(
          Map.entry("title", JsonNode::isTextual),
          Map.entry("description", JsonNode::isTextual),
          Map.entry("format", JsonNode::isTextual),
          Map.entry("$comment", JsonNode::isTextual),
          Map.entry("contentEncoding", JsonNode::isTextual),
          Map.entry("contentMediaType", JsonNode::isTextual),
          Map.entry("pattern", SchemaNormalizer::isPattern),
          Map.entry("minLength", SchemaNormalizer::isCount),
          Map.entry("maxLength", SchemaNormalizer::isCount),
          Map.entry("minItems", SchemaNormalizer::isCount),
          Map.entry("maxItems", SchemaNormalizer::isCount),
          Map.entry("minProperties", SchemaNormalizer::isCount),
          Map.entry("maxProperties", SchemaNormalizer::isCount),
          Map.entry("minContains", SchemaNormalizer::isCount),
          Map.entry("maxContains", SchemaNormalizer::isCount),
          Map.entry("minimum", SchemaNormalizer::isFinite),
          Map.entry("maximum", SchemaNormalizer::isFinite),
          Map.entry("exclusiveMinimum", SchemaNormalizer::isFinite),
          Map.entry("exclusiveMaximum", SchemaNormalizer::isFinite),
          Map.entry("multipleOf", value -> isFinite(value) && value.decimalValue().signum() > 0),
          Map.entry("uniqueItems", JsonNode::isBoolean),
          Map.entry("readOnly", JsonNode::isBoolean),
          Map.entry("writeOnly", JsonNode::isBoolean),
          Map.entry("deprecated", JsonNode::isBoolean),
          Map.entry("examples", JsonNode::isArray));

  /** Keywords that each dialect handles itself; the others are assertions or annotations. */
  static final Set<String> STRUCTURAL_KEYWORDS =
      Set.of(
          "type",
          "properties",
          "required",
          "items",
          "enum",
          "const",
          "anyOf",
          "oneOf",
          "allOf",
          "$ref",
          "$defs",
          "definitions",
          "title",
          "description",
          "additionalProperties");

  private static final Set<String> ADDITIONAL_SCHEMAS =
      Set.of("additionalProperties", "unevaluatedProperties", "unevaluatedItems");
  private static final Set<String> ANY_VALUE = Set.of("const", "default");

  private final ReductionReport reductionReport;
  private JsonNode root;

  SchemaNormalizer(ReductionReport reductionReport) {
    this.reductionReport = reductionReport;
  }

  ObjectNode normalize(JsonNode schema) {
    root = schema == null ? JSON.objectNode() : schema;
    return SchemaReferences.removeDangling(schema(root, ""), reductionReport);
  }

  private ObjectNode schema(JsonNode schema, String pointer) {
    ObjectNode normalized = JSON.objectNode();
    if (schema.isBoolean()) {
      return schema.booleanValue() ? normalized : normalized.set("not", JSON.objectNode());
    }
    if (!schema.isObject()) {
      reductionReport.add(pointer, "not a schema");
      return normalized;
    }
    schema.properties().forEach(e -> keyword(normalized, e.getKey(), e.getValue(), pointer));
    if (normalized.path("items").isMissingNode() && hasType(normalized, "array")) {
      normalized.set("items", JSON.objectNode());
    }
    return normalized;
  }

  private void keyword(ObjectNode normalized, String name, JsonNode value, String pointer) {
    String at = pointer + "/" + escaped(name);
    if (SCHEMA_KEYWORDS.contains(name) && (value.isObject() || value.isBoolean())) {
      normalized.set(name, schema(value, at));
    } else if (name.equals("items") && value.isArray() && !value.isEmpty()) {
      list(normalized, "prefixItems", value, at);
    } else if (SCHEMA_LIST_KEYWORDS.contains(name) && value.isArray() && !value.isEmpty()) {
      list(normalized, name, value, at);
    } else if (SCHEMA_MAP_KEYWORDS.contains(name) && value.isObject()) {
      ObjectNode map = normalized.putObject(name);
      value.properties().forEach(e -> map.set(e.getKey(), schema(e.getValue(), at(at, e))));
    } else if (!special(normalized, name, value, at)) {
      plain(normalized, name, value, at);
    }
  }

  private void list(ObjectNode normalized, String name, JsonNode value, String at) {
    ArrayNode list = normalized.putArray(name);
    for (int i = 0; i < value.size(); i++) {
      list.add(schema(value.get(i), at + "/" + i));
    }
  }

  private boolean special(ObjectNode normalized, String name, JsonNode value, String at) {
    switch (name) {
      case "type" -> type(normalized, value, at);
      case "required" -> required(normalized, value, at);
      case "enum" -> {
        if (value.isArray() && !value.isEmpty()) {
          normalized.set(name, distinct(value));
        }
      }
      case "$ref" -> reference(normalized, value, at);
      case "$schema", "$id", "$anchor", "id" -> {}
      default -> {
        return false;
      }
    }
    return true;
  }

  private void required(ObjectNode normalized, JsonNode value, String at) {
    Set<String> names = new LinkedHashSet<>();
    value.forEach(name -> names.add(name.textValue()));
    if (!value.isArray() || names.remove(null)) {
      reductionReport.add(at, "an invalid value");
    }
    if (value.isArray()) {
      names.forEach(normalized.putArray("required")::add);
    }
  }

  private void type(ObjectNode normalized, JsonNode value, String at) {
    Set<String> types = new LinkedHashSet<>();
    (value.isArray() ? value : JSON.arrayNode().add(value))
        .forEach(
            type -> {
              if (TYPES.contains(type.asText())) {
                types.add(type.asText());
              } else {
                reductionReport.add(at, "not a type: " + type.asText());
              }
            });
    if (types.size() == 1) {
      normalized.put("type", types.iterator().next());
    } else if (!types.isEmpty()) {
      types.forEach(normalized.putArray("type")::add);
    }
  }

  /** Only references within the document are allowed; nothing is fetched. */
  private void reference(ObjectNode normalized, JsonNode value, String at) {
    if (SchemaReferences.target(root, value) != null) {
      normalized.set("$ref", value);
    } else {
      reductionReport.add(at, "an unresolvable reference");
    }
  }

  private void plain(ObjectNode normalized, String name, JsonNode value, String at) {
    Predicate<JsonNode> validator = VALUES.get(name);
    if (ANY_VALUE.contains(name) || validator != null && validator.test(value)) {
      normalized.set(name, value);
    } else if (validator != null
        || SCHEMA_KEYWORDS.contains(name)
        || SCHEMA_LIST_KEYWORDS.contains(name)) {
      reductionReport.add(at, "an invalid value");
    } else {
      reductionReport.add(at, "not a keyword of 2020-12");
    }
  }

  static boolean hasType(JsonNode schema, String type) {
    JsonNode declared = schema.path("type");
    if (declared.isTextual()) {
      return declared.textValue().equals(type);
    }
    for (JsonNode element : declared) {
      if (element.textValue().equals(type)) {
        return true;
      }
    }
    return false;
  }

  /** Writes trivial schemas of additional values as booleans; the other steps expect objects. */
  static void useBooleanSchemas(ObjectNode schema) {
    ObjectNode never = JSON.objectNode().set("not", JSON.objectNode());
    Set<String> referenced = SchemaReferences.pointers(schema);
    SubschemaWalker.each(
        schema,
        (pointer, each) ->
            ADDITIONAL_SCHEMAS.stream()
                .filter(name -> !referenced.contains(pointer + "/" + name))
                .forEach(
                    name -> {
                      JsonNode others = each.path(name);
                      if (others.equals(never) || others.isObject() && others.isEmpty()) {
                        each.put(name, others.isEmpty());
                      }
                    }));
  }

  /** A schema with only the title and the description of the given one. */
  static ObjectNode titleAndDescription(JsonNode node) {
    ObjectNode copy = JSON.objectNode();
    for (String name : List.of("title", "description")) {
      if (node.has(name)) {
        copy.set(name, node.get(name));
      }
    }
    return copy;
  }

  static String escaped(String name) {
    return name.replace("~", "~0").replace("/", "~1");
  }

  static String at(String pointer, Map.Entry<String, JsonNode> entry) {
    return pointer + "/" + escaped(entry.getKey());
  }

  private static ArrayNode distinct(JsonNode values) {
    Set<JsonNode> all = new LinkedHashSet<>();
    values.forEach(all::add);
    return JSON.arrayNode().addAll(all);
  }

  private static boolean isCount(JsonNode value) {
    return value.isIntegralNumber() && value.bigIntegerValue().signum() >= 0;
  }

  /** Numbers beyond the range of a double are not interoperable in JSON. */
  private static boolean isFinite(JsonNode value) {
    return value.isNumber() && Double.isFinite(value.doubleValue());
  }

  private static boolean isPattern(JsonNode value) {
    try {
      Pattern.compile(value.textValue());
      return true;
    } catch (PatternSyntaxException | NullPointerException | StackOverflowError e) {
      return false;
    }
  }
}
