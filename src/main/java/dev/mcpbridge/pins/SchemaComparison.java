package dev.mcpbridge.pins;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.mcpbridge.pins.DefinitionDiff.Finding;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tells whether a schema of arguments accepts more than another one, as far as that can be seen
 * keyword by keyword (JSON Schema 2020-12); a change that cannot be judged counts as wider.
 * Stateless.
 */
final class SchemaComparison {
  private static final List<String> SCHEMAS =
      List.of("items", "additionalProperties", "propertyNames", "contains", "if", "then", "else");
  private static final List<String> LISTS_OF_SCHEMAS =
      List.of("anyOf", "oneOf", "allOf", "prefixItems");
  private static final List<String> MAPS_OF_SCHEMAS =
      List.of("properties", "patternProperties", "$defs", "definitions", "dependentSchemas");
  private static final List<String> UPPER =
      List.of("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties");
  private static final List<String> LOWER =
      List.of("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties");
  private static final List<String> EXACT =
      List.of("pattern", "const", "format", "not", "$ref", "multipleOf", "uniqueItems");

  private SchemaComparison() {}

  /** Adds what it finds. */
  static void compare(JsonNode before, JsonNode after, Set<Finding> findings) {
    if (before.equals(after) && before.toString().equals(after.toString())) {
      return;
    }
    findings.add(Finding.SCHEMA_CHANGED);
    if (!before.isObject() || !after.isObject()) {
      boolean isClosed = after.isBoolean() && !after.booleanValue();
      add(findings, !isClosed && !isOpen(before));
      return;
    }
    after
        .path("properties")
        .fieldNames()
        .forEachRemaining(
            name -> {
              if (!before.path("properties").has(name)) {
                findings.add(Finding.ARGUMENT_ADDED);
              }
            });
    add(findings, isWider(before, after));
    for (String keyword : SCHEMAS) {
      if (before.has(keyword) && after.has(keyword)) {
        compare(before.get(keyword), after.get(keyword), findings);
      } else {
        add(findings, before.has(keyword) && !isOpen(before.get(keyword)));
      }
    }
    LISTS_OF_SCHEMAS.forEach(
        keyword -> compareLists(before.path(keyword), after.path(keyword), findings));
    MAPS_OF_SCHEMAS.forEach(
        keyword -> compareMaps(before.path(keyword), after.path(keyword), findings));
  }

  private static void add(Set<Finding> findings, boolean isWider) {
    if (isWider) {
      findings.add(Finding.SCHEMA_WIDENED);
    }
  }

  private static void compareLists(JsonNode before, JsonNode after, Set<Finding> findings) {
    add(findings, before.size() != after.size());
    for (int i = 0; i < Math.min(before.size(), after.size()); i++) {
      compare(before.get(i), after.get(i), findings);
    }
  }

  private static void compareMaps(JsonNode before, JsonNode after, Set<Finding> findings) {
    for (Map.Entry<String, JsonNode> entry : after.properties()) {
      JsonNode earlier = before.path(entry.getKey());
      if (!earlier.isMissingNode()) {
        compare(earlier, entry.getValue(), findings);
      }
    }
  }

  private static boolean isWider(JsonNode before, JsonNode after) {
    return lacks(after.path("required"), before.path("required"))
        || before.has("type") && (!after.has("type") || lacks(types(before), types(after)))
        || before.has("enum")
            && (!after.has("enum") || lacks(before.get("enum"), after.get("enum")))
        || EXACT.stream()
            .anyMatch(key -> before.has(key) && !before.get(key).equals(after.path(key)))
        || UPPER.stream().anyMatch(key -> isFurther(before.path(key), after.path(key), 1))
        || LOWER.stream().anyMatch(key -> isFurther(before.path(key), after.path(key), -1));
  }

  private static boolean isFurther(JsonNode before, JsonNode after, int direction) {
    return before.isNumber()
        && (!after.isNumber()
            || direction * after.decimalValue().compareTo(before.decimalValue()) > 0);
  }

  private static boolean isOpen(JsonNode schema) {
    return schema.isMissingNode()
        || schema.isBoolean() && schema.booleanValue()
        || schema.isObject() && schema.isEmpty();
  }

  /** Every integer is a number. */
  private static Set<JsonNode> types(JsonNode schema) {
    Set<JsonNode> types = elements(schema.path("type"));
    types.stream()
        .filter(type -> type.asText().equals("number"))
        .findFirst()
        .ifPresent(number -> types.add(TextNode.valueOf("integer")));
    return types;
  }

  private static boolean lacks(JsonNode list, JsonNode other) {
    return lacks(elements(list), elements(other));
  }

  /** Whether a set lacks an element of another. */
  private static boolean lacks(Set<JsonNode> set, Set<JsonNode> other) {
    return !set.containsAll(other);
  }

  /** The elements of a list, or a single value. */
  private static Set<JsonNode> elements(JsonNode value) {
    Set<JsonNode> elements = new HashSet<>();
    if (value.isArray()) {
      value.forEach(elements::add);
    } else if (!value.isMissingNode()) {
      elements.add(value);
    }
    return elements;
  }
}
