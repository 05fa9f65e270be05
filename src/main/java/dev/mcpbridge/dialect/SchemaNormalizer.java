package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Stream;

/**
 * Normalises a schema to valid JSON Schema 2020-12. Syntax of older drafts is converted, references
 * that cannot be resolved within the document are removed and so accept anything, and invalid
 * keywords are removed.
 */
final class SchemaNormalizer {
  private static final Set<String> TYPES =
      Set.of("object", "array", "string", "number", "integer", "boolean", "null");

  private final ReductionReport reductionReport;
  private JsonNode root;

  SchemaNormalizer(ReductionReport reductionReport) {
    this.reductionReport = reductionReport;
  }

  ObjectNode normalize(JsonNode schema) {
    root = schema == null ? Json.object() : schema;
    return Schemas.removeDangling(schema(root, ""), reductionReport);
  }

  private ObjectNode schema(JsonNode schema, String pointer) {
    ObjectNode normalized = Json.object();
    if (schema.isBoolean()) {
      return schema.booleanValue() ? normalized : normalized.set("not", Json.object());
    }
    if (!schema.isObject()) {
      reductionReport.add(pointer, "not a schema");
      return normalized;
    }
    schema.forEachEntry((name, value) -> keyword(normalized, name, value, pointer));
    if (!normalized.has("items") && Schemas.types(normalized).contains("array")) {
      normalized.set("items", Json.object());
    }
    return normalized;
  }

  private void keyword(ObjectNode normalized, String name, JsonNode value, String pointer) {
    String at = Schemas.at(pointer, name);
    switch (name) {
      case "type" -> type(normalized, value, at);
      case "required" -> required(normalized, value, at);
      case "enum" -> {
        if (value.isArray() && !value.isEmpty()) {
          normalized.putArray(name).addAll(value.valueStream().distinct().toList());
        }
      }
      case "$ref" -> reference(normalized, value, at);
      case "$schema", "$id", "$anchor", "id" -> {}
      default -> subschemas(normalized, name, value, at);
    }
  }

  private void subschemas(ObjectNode normalized, String name, JsonNode value, String at) {
    boolean isTuple = name.equals("items") && value.isArray();
    if (Schemas.SCHEMA_KEYWORDS.contains(name) && (value.isObject() || value.isBoolean())) {
      normalized.set(name, schema(value, at));
    } else if ((isTuple || Schemas.SCHEMA_LIST_KEYWORDS.contains(name))
        && value.isArray()
        && !value.isEmpty()) {
      list(normalized, isTuple ? "prefixItems" : name, value, at);
    } else if (Schemas.SCHEMA_MAP_KEYWORDS.contains(name) && value.isObject()) {
      ObjectNode map = normalized.putObject(name);
      value.forEachEntry((key, inner) -> map.set(key, schema(inner, Schemas.at(at, key))));
    } else {
      plain(normalized, name, value, at);
    }
  }

  private void list(ObjectNode normalized, String name, JsonNode value, String at) {
    ArrayNode list = normalized.putArray(name);
    for (int i = 0; i < value.size(); i++) {
      list.add(schema(value.get(i), at + "/" + i));
    }
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
    (value.isArray() ? value.valueStream() : Stream.of(value))
        .map(JsonNode::asText)
        .forEach(
            type -> {
              if (TYPES.contains(type)) {
                types.add(type);
              } else {
                reductionReport.add(at, "not a type: " + type);
              }
            });
    if (!types.isEmpty()) {
      Schemas.putTypes(normalized, types);
    }
  }

  /** Only references within the document are allowed; nothing is fetched. */
  private void reference(ObjectNode normalized, JsonNode value, String at) {
    if (Schemas.target(root, value) != null) {
      normalized.set("$ref", value);
    } else {
      reductionReport.add(at, "an unresolvable reference");
    }
  }

  private void plain(ObjectNode normalized, String name, JsonNode value, String at) {
    Predicate<JsonNode> validator = validator(name);
    if (validator != null && validator.test(value)) {
      normalized.set(name, value);
    } else {
      boolean isKnown =
          validator != null
              || Schemas.SCHEMA_KEYWORDS.contains(name)
              || Schemas.SCHEMA_LIST_KEYWORDS.contains(name);
      reductionReport.add(at, isKnown ? "an invalid value" : "not a keyword of 2020-12");
    }
  }

  /** How the value of an assertion or annotation is checked; null for an unknown keyword. */
  private static Predicate<JsonNode> validator(String name) {
    return switch (name) {
      case "const", "default" -> value -> true;
      case "title", "description", "format", "$comment", "contentEncoding", "contentMediaType" ->
          JsonNode::isTextual;
      case "pattern" -> SchemaNormalizer::isPattern;
      case "minLength", "maxLength", "minItems", "maxItems" -> SchemaNormalizer::isCount;
      case "minProperties", "maxProperties" -> SchemaNormalizer::isCount;
      case "minContains", "maxContains" -> SchemaNormalizer::isCount;
      case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum" ->
          SchemaNormalizer::isFinite;
      case "multipleOf" -> value -> isFinite(value) && value.decimalValue().signum() > 0;
      case "uniqueItems", "readOnly", "writeOnly", "deprecated" -> JsonNode::isBoolean;
      case "examples" -> JsonNode::isArray;
      default -> null;
    };
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
