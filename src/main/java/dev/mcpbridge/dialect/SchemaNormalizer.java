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
 * The lossless core: a schema of 2020-12 whose keywords have the values that they may have. What
 * older drafts wrote otherwise is written anew, references that lead nowhere or away from the
 * document admit anything, and what is no schema is left out.
 */
final class SchemaNormalizer {
  static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  static final Set<String> TYPES =
      Set.of("object", "array", "string", "number", "integer", "boolean", "null");

  static final Set<String> SCHEMAS =
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
  static final Set<String> LISTS = Set.of("allOf", "anyOf", "oneOf", "prefixItems");
  static final Set<String> MAPS =
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

  /** What every dialect has its own way with; the rest are assertions, or words. */
  static final Set<String> STRUCTURE =
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

  private static final Set<String> OTHERS =
      Set.of("additionalProperties", "unevaluatedProperties", "unevaluatedItems");
  private static final Set<String> FREE = Set.of("const", "default");

  private final ReductionReport reductionReport;
  private JsonNode root;

  SchemaNormalizer(ReductionReport reductionReport) {
    this.reductionReport = reductionReport;
  }

  ObjectNode sane(JsonNode schema) {
    root = schema == null ? JSON.objectNode() : schema;
    return SchemaReferences.settled(schema(root, ""), reductionReport);
  }

  private ObjectNode schema(JsonNode schema, String place) {
    ObjectNode sane = JSON.objectNode();
    if (schema.isBoolean()) {
      return schema.booleanValue() ? sane : sane.set("not", JSON.objectNode());
    }
    if (!schema.isObject()) {
      reductionReport.add(place, "no schema");
      return sane;
    }
    schema.properties().forEach(e -> keyword(sane, e.getKey(), e.getValue(), place));
    if (sane.path("items").isMissingNode() && hasType(sane, "array")) {
      sane.set("items", JSON.objectNode());
    }
    return sane;
  }

  private void keyword(ObjectNode sane, String name, JsonNode value, String place) {
    String at = place + "/" + escaped(name);
    if (SCHEMAS.contains(name) && (value.isObject() || value.isBoolean())) {
      sane.set(name, schema(value, at));
    } else if (name.equals("items") && value.isArray() && !value.isEmpty()) {
      list(sane, "prefixItems", value, at);
    } else if (LISTS.contains(name) && value.isArray() && !value.isEmpty()) {
      list(sane, name, value, at);
    } else if (MAPS.contains(name) && value.isObject()) {
      ObjectNode map = sane.putObject(name);
      value.properties().forEach(e -> map.set(e.getKey(), schema(e.getValue(), at(at, e))));
    } else if (!special(sane, name, value, at)) {
      plain(sane, name, value, at);
    }
  }

  private void list(ObjectNode sane, String name, JsonNode value, String at) {
    ArrayNode list = sane.putArray(name);
    for (int i = 0; i < value.size(); i++) {
      list.add(schema(value.get(i), at + "/" + i));
    }
  }

  private boolean special(ObjectNode sane, String name, JsonNode value, String at) {
    switch (name) {
      case "type" -> type(sane, value, at);
      case "required" -> required(sane, value, at);
      case "enum" -> {
        if (value.isArray() && !value.isEmpty()) {
          sane.set(name, distinct(value));
        }
      }
      case "$ref" -> reference(sane, value, at);
      case "$schema", "$id", "$anchor", "id" -> {}
      default -> {
        return false;
      }
    }
    return true;
  }

  private void required(ObjectNode sane, JsonNode value, String at) {
    Set<String> names = new LinkedHashSet<>();
    value.forEach(name -> names.add(name.textValue()));
    if (!value.isArray() || names.remove(null)) {
      reductionReport.add(at, "not a value that it may have");
    }
    if (value.isArray()) {
      names.forEach(sane.putArray("required")::add);
    }
  }

  private void type(ObjectNode sane, JsonNode value, String at) {
    Set<String> known = new LinkedHashSet<>();
    (value.isArray() ? value : JSON.arrayNode().add(value))
        .forEach(
            one -> {
              if (TYPES.contains(one.asText())) {
                known.add(one.asText());
              } else {
                reductionReport.add(at, "no type: " + one.asText());
              }
            });
    if (known.size() == 1) {
      sane.put("type", known.iterator().next());
    } else if (!known.isEmpty()) {
      known.forEach(sane.putArray("type")::add);
    }
  }

  /** Only what the document itself holds is followed; nothing is ever fetched. */
  private void reference(ObjectNode sane, JsonNode value, String at) {
    if (SchemaReferences.target(root, value) != null) {
      sane.set("$ref", value);
    } else {
      reductionReport.add(at, "a reference that leads to nothing here");
    }
  }

  private void plain(ObjectNode sane, String name, JsonNode value, String at) {
    Predicate<JsonNode> mayBe = VALUES.get(name);
    if (FREE.contains(name) || mayBe != null && mayBe.test(value)) {
      sane.set(name, value);
    } else if (mayBe != null || SCHEMAS.contains(name) || LISTS.contains(name)) {
      reductionReport.add(at, "not a value that it may have");
    } else {
      reductionReport.add(at, "a keyword that is none of 2020-12");
    }
  }

  static boolean hasType(JsonNode schema, String type) {
    JsonNode declared = schema.path("type");
    if (declared.isTextual()) {
      return declared.textValue().equals(type);
    }
    for (JsonNode one : declared) {
      if (one.textValue().equals(type)) {
        return true;
      }
    }
    return false;
  }

  /** Writes "anything more" and "nothing more" as everybody does, which the walks do not. */
  static void spell(ObjectNode schema) {
    ObjectNode nothing = JSON.objectNode().set("not", JSON.objectNode());
    Set<String> referred = SchemaReferences.pointers(schema);
    SubschemaWalker.each(
        schema,
        (place, each) ->
            OTHERS.stream()
                .filter(name -> !referred.contains(place + "/" + name))
                .forEach(
                    name -> {
                      JsonNode others = each.path(name);
                      if (others.equals(nothing) || others.isObject() && others.isEmpty()) {
                        each.put(name, others.isEmpty());
                      }
                    }));
  }

  /** The words about a schema, and nothing else of it. */
  static ObjectNode described(JsonNode node) {
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

  static String at(String place, Map.Entry<String, JsonNode> entry) {
    return place + "/" + escaped(entry.getKey());
  }

  private static ArrayNode distinct(JsonNode values) {
    Set<JsonNode> all = new LinkedHashSet<>();
    values.forEach(all::add);
    return JSON.arrayNode().addAll(all);
  }

  private static boolean isCount(JsonNode value) {
    return value.isIntegralNumber() && value.bigIntegerValue().signum() >= 0;
  }

  /** JSON has no word for a number that no double holds. */
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
