package dev.mcpbridge.dialect;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The published rules of the providers for function parameters; lists all violations. */
final class ProviderRules {
  private static final Set<String> STRICT =
      Set.of(
          "type",
          "properties",
          "required",
          "items",
          "enum",
          "anyOf",
          "$ref",
          "$defs",
          "title",
          "description",
          "additionalProperties",
          "pattern",
          "format",
          "multipleOf",
          "minimum",
          "maximum",
          "exclusiveMinimum",
          "exclusiveMaximum",
          "minItems",
          "maxItems");
  private static final Set<String> STRICT_FORMATS =
      Set.of("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid");
  private static final Set<String> GEMINI =
      Set.of(
          "type",
          "format",
          "title",
          "description",
          "nullable",
          "enum",
          "items",
          "minItems",
          "maxItems",
          "properties",
          "required",
          "minProperties",
          "maxProperties",
          "minimum",
          "maximum",
          "minLength",
          "maxLength",
          "pattern",
          "anyOf");
  private static final Set<String> GEMINI_TYPES =
      Set.of("object", "array", "string", "number", "integer", "boolean");
  private static final Set<String> GEMINI_FORMATS =
      Set.of(
          "string date-time",
          "string enum",
          "number float",
          "number double",
          "integer int32",
          "integer int64");

  private final ObjectNode root;
  private final List<String> violations = new ArrayList<>();

  private ProviderRules(ObjectNode root) {
    this.root = root;
  }

  static List<String> openAi(ObjectNode root) {
    ProviderRules rules = new ProviderRules(root);
    rules.top(List.of("oneOf", "anyOf", "allOf", "enum", "not"));
    RandomSchemas.each(root, rules::jsonSchema);
    return rules.violations;
  }

  static List<String> anthropic(ObjectNode root) {
    ProviderRules rules = new ProviderRules(root);
    rules.violations.addAll(openAi(root));
    RandomSchemas.each(
        root,
        schema ->
            schema
                .path("properties")
                .fieldNames()
                .forEachRemaining(
                    name -> rules.check(name.matches("[a-zA-Z0-9_.-]{1,64}"), "property " + name)));
    return rules.violations;
  }

  static List<String> strict(ObjectNode root) {
    ProviderRules rules = new ProviderRules(root);
    rules.top(List.of("anyOf"));
    RandomSchemas.each(root, rules::strictSchema);
    rules.depth(root, 1);
    root.path("$defs").forEach(definition -> rules.depth(definition, 1));
    return rules.violations;
  }

  static List<String> gemini(ObjectNode root) {
    ProviderRules rules = new ProviderRules(root);
    if (!root.isEmpty()) {
      rules.check(root.path("type").asText().equals("object"), "root is not an object");
      RandomSchemas.each(root, rules::geminiSchema);
    }
    return rules.violations;
  }

  private void top(List<String> forbidden) {
    check(root.path("type").asText().equals("object"), "root is not an object");
    check(root.path("properties").isObject(), "root has no properties");
    forbidden.forEach(keyword -> check(!root.has(keyword), "root has " + keyword));
  }

  private void jsonSchema(JsonNode schema) {
    check(schema.isObject() || schema.isBoolean(), "not a schema", schema);
    check(!types(schema).contains("array") || schema.has("items"), "no items", schema);
    if (schema.has("$ref")) {
      check(target(schema.get("$ref").asText()).isObject(), "dangling", schema);
    }
  }

  private JsonNode target(String reference) {
    String pointer = reference.startsWith("#") ? reference.substring(1) : "/no such place";
    return root.at(JsonPointer.compile(URLDecoder.decode(pointer, StandardCharsets.UTF_8)));
  }

  private void strictSchema(JsonNode schema) {
    Set<String> names = names(schema);
    check(schema.isObject(), "not a schema", schema);
    check(STRICT.containsAll(names), "keywords", schema);
    check(names.stream().anyMatch(Set.of("type", "anyOf", "$ref")::contains), "any", schema);
    jsonSchema(schema);
    if (types(schema).contains("object")) {
      check(schema.path("additionalProperties").isBoolean(), "open", schema);
      check(!schema.path("additionalProperties").asBoolean(true), "open", schema);
      Set<String> required = new HashSet<>();
      schema.path("required").forEach(name -> required.add(name.asText()));
      check(schema.path("properties").isObject(), "no properties", schema);
      check(required.equals(names(schema.path("properties"))), "required", schema);
    }
    if (schema.has("$ref")) {
      check(schema.size() == 1, "keywords beside a reference", schema);
      check(schema.get("$ref").asText().matches("#|#/\\$defs/[^/]+"), "reference", schema);
    }
    if (schema.has("format")) {
      check(STRICT_FORMATS.contains(schema.get("format").asText()), "format", schema);
    }
  }

  private void depth(JsonNode schema, int depth) {
    check(depth <= 10, "too deep");
    schema.path("properties").forEach(property -> depth(property, depth + 1));
    if (schema.has("items")) {
      depth(schema.get("items"), depth + 1);
    }
    schema.path("anyOf").forEach(branch -> depth(branch, depth));
  }

  private void geminiSchema(JsonNode schema) {
    check(schema.isObject() && !schema.isEmpty(), "not a schema", schema);
    check(GEMINI.containsAll(names(schema)), "keywords", schema);
    if (schema.has("anyOf")) {
      check(schema.size() == 1 && schema.get("anyOf").size() > 1, "union", schema);
      return;
    }
    String type = schema.path("type").asText();
    check(schema.path("type").isTextual() && GEMINI_TYPES.contains(type), "type", schema);
    check(!type.equals("object") || !schema.path("properties").isEmpty(), "empty", schema);
    check(!type.equals("array") || schema.path("items").isObject(), "no items", schema);
    if (schema.has("format")) {
      check(GEMINI_FORMATS.contains(type + " " + schema.get("format").asText()), "f", schema);
    }
    if (schema.has("enum")) {
      distinctTexts(schema.get("enum"), schema);
      check(type.equals("string") && !schema.get("enum").isEmpty(), "enum", schema);
      schema.get("enum").forEach(value -> check(!value.asText().isEmpty(), "enum", schema));
    }
    if (schema.has("required")) {
      Set<String> required = distinctTexts(schema.get("required"), schema);
      check(names(schema.path("properties")).containsAll(required), "required", schema);
    }
    for (String keyword : List.of("title", "description", "pattern")) {
      check(!schema.has(keyword) || schema.get(keyword).isTextual(), keyword, schema);
    }
    counts(schema);
  }

  private void counts(JsonNode schema) {
    for (String place : List.of("Items", "Length", "Properties")) {
      for (String keyword : List.of("min" + place, "max" + place)) {
        JsonNode count = schema.path(keyword);
        boolean isCount = count.canConvertToLong() && count.longValue() >= 0;
        check(count.isMissingNode() || isCount, keyword, schema);
      }
    }
    for (String keyword : List.of("minimum", "maximum")) {
      JsonNode bound = schema.path(keyword);
      boolean isNumber = bound.isNumber() && Double.isFinite(bound.doubleValue());
      check(bound.isMissingNode() || isNumber, keyword, schema);
    }
  }

  private Set<String> distinctTexts(JsonNode list, JsonNode schema) {
    Set<String> texts = new HashSet<>();
    list.forEach(
        element -> check(element.isTextual() && texts.add(element.asText()), "list", schema));
    return texts;
  }

  private void check(boolean isSatisfied, String violation) {
    check(isSatisfied, violation, root);
  }

  private void check(boolean isSatisfied, String violation, JsonNode schema) {
    if (!isSatisfied) {
      violations.add(violation + ": " + schema);
    }
  }

  static Set<String> types(JsonNode schema) {
    Set<String> types = new TreeSet<>();
    if (schema.path("type").isTextual()) {
      types.add(schema.get("type").asText());
    }
    schema.path("type").forEach(type -> types.add(type.asText()));
    return types;
  }

  private static Set<String> names(JsonNode object) {
    Set<String> names = new TreeSet<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }
}
