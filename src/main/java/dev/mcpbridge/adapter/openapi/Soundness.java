package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Takes out of a schema what the meta-schema of 2020-12 refuses: one wrong keyword would make the
 * whole of it useless to whoever checks. Looks at one schema, not at those within. Stateless.
 */
final class Soundness {
  private static final Set<String> TYPES =
      Set.of("array", "boolean", "integer", "null", "number", "object", "string");
  private static final Map<String, Predicate<JsonNode>> RULES = rules();

  private Soundness() {}

  static void keep(ObjectNode schema) {
    if (schema.path("items").isArray()) {
      JsonNode tuple = schema.remove("items");
      if (!schema.has("prefixItems")) {
        schema.set("prefixItems", tuple);
      }
    }
    schema
        .properties()
        .removeIf(each -> !RULES.getOrDefault(each.getKey(), any -> true).test(each.getValue()));
  }

  private static Map<String, Predicate<JsonNode>> rules() {
    Map<String, Predicate<JsonNode>> rules = new HashMap<>();
    put(rules, JsonNode::isTextual, "title", "description", "format", "pattern", "$comment");
    put(rules, JsonNode::isTextual, "contentEncoding", "contentMediaType");
    put(rules, JsonNode::isBoolean, "uniqueItems", "readOnly", "writeOnly", "deprecated");
    put(rules, JsonNode::isNumber, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum");
    put(rules, Soundness::isCount, "minLength", "maxLength", "minItems", "maxItems");
    put(rules, Soundness::isCount, "minProperties", "maxProperties", "minContains", "maxContains");
    put(rules, Soundness::isSchema, "items", "additionalProperties", "contains", "not", "if");
    put(rules, Soundness::isSchema, "then", "else", "propertyNames", "contentSchema");
    put(rules, Soundness::isSchema, "unevaluatedItems", "unevaluatedProperties");
    put(rules, Soundness::areSchemas, "allOf", "anyOf", "oneOf", "prefixItems");
    put(rules, JsonNode::isObject, "properties", "patternProperties", "$defs", "definitions");
    put(rules, JsonNode::isObject, "dependentSchemas");
    put(rules, JsonNode::isArray, "enum", "examples");
    put(rules, Soundness::areNames, "required");
    put(rules, Soundness::isType, "type");
    put(rules, value -> value.isNumber() && value.decimalValue().signum() > 0, "multipleOf");
    put(rules, Soundness::areLists, "dependentRequired");
    // They name schemas, which are at other places here than in the document.
    put(rules, value -> false, "$id", "$schema", "$anchor", "$dynamicAnchor", "$dynamicRef");
    put(rules, value -> false, "$recursiveRef", "$recursiveAnchor", "$vocabulary", "dependencies");
    return rules;
  }

  private static void put(
      Map<String, Predicate<JsonNode>> rules, Predicate<JsonNode> rule, String... keywords) {
    for (String keyword : keywords) {
      rules.put(keyword, rule);
    }
  }

  private static boolean isCount(JsonNode value) {
    return value.isIntegralNumber() && value.decimalValue().signum() >= 0;
  }

  private static boolean isSchema(JsonNode value) {
    return value.isObject() || value.isBoolean();
  }

  private static boolean areSchemas(JsonNode value) {
    return value.isArray() && !value.isEmpty() && value.valueStream().allMatch(Soundness::isSchema);
  }

  private static boolean areNames(JsonNode value) {
    return value.isArray()
        && value.valueStream().allMatch(JsonNode::isTextual)
        && isDistinct(value);
  }

  private static boolean areLists(JsonNode value) {
    return value.isObject() && value.valueStream().allMatch(Soundness::areNames);
  }

  private static boolean isType(JsonNode value) {
    return value.isArray()
        ? !value.isEmpty()
            && isDistinct(value)
            && value.valueStream().allMatch(each -> TYPES.contains(each.asText()))
        : TYPES.contains(value.asText());
  }

  private static boolean isDistinct(JsonNode list) {
    return new HashSet<>(list.valueStream().toList()).size() == list.size();
  }
}
