package dev.mcpbridge.dialect;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

/** The structure of schemas: which keywords contain schemas, types, references. Stateless. */
public final class Schemas {
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

  private Schemas() {}

  /**
   * Visits a schema and all its subschemas, outer schemas first. Values of {@code enum}, {@code
   * const} and {@code default} are not schemas and are skipped. A visit may change its schema.
   *
   * @param visit receives the JSON Pointer and the schema
   */
  public static void each(JsonNode root, BiConsumer<String, ObjectNode> visit) {
    each(root, "", visit);
  }

  private static void each(JsonNode node, String pointer, BiConsumer<String, ObjectNode> visit) {
    if (!(node instanceof ObjectNode schema)) {
      return;
    }
    visit.accept(pointer, schema);
    schema.forEachEntry(
        (keyword, value) -> {
          String at = at(pointer, keyword);
          if (SCHEMA_MAP_KEYWORDS.contains(keyword)) {
            value.forEachEntry((name, inner) -> each(inner, at(at, name), visit));
          } else if (SCHEMA_KEYWORDS.contains(keyword) || SCHEMA_LIST_KEYWORDS.contains(keyword)) {
            each(value, at, visit);
            for (int i = 0; value.isArray() && i < value.size(); i++) {
              each(value.get(i), at + "/" + i, visit);
            }
          }
        });
  }

  /** The schema at a reference (RFC 6901 in a URI fragment); null if the document has none. */
  public static JsonNode target(JsonNode root, JsonNode reference) {
    try {
      String pointer = pointer(reference);
      JsonNode target = pointer == null ? null : root.at(JsonPointer.compile(pointer));
      return target != null && (target.isObject() || target.isBoolean()) ? target : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private static String pointer(JsonNode reference) {
    String text = reference.asText("");
    return reference.isTextual() && text.startsWith("#")
        ? URLDecoder.decode(text.substring(1).replace("+", "%2B"), StandardCharsets.UTF_8)
        : null;
  }

  /** Removes references that do not point to a schema of the document. */
  static ObjectNode removeDangling(ObjectNode root, ReductionReport reductionReport) {
    Set<String> locations = new HashSet<>();
    each(root, (location, schema) -> locations.add(location));
    each(
        root,
        (location, schema) -> {
          if (schema.has("$ref") && !locations.contains(pointer(schema.get("$ref")))) {
            schema.remove("$ref");
            reductionReport.add(location + "/$ref", "an unresolvable reference");
          }
        });
    return root;
  }

  /** Writes trivial schemas of additional values as booleans; the other steps expect objects. */
  static void useBooleanSchemas(ObjectNode root) {
    ObjectNode never = Json.object().set("not", Json.object());
    Set<String> referenced = new HashSet<>();
    each(root, (pointer, schema) -> referenced.add(pointer(schema.path("$ref"))));
    each(
        root,
        (pointer, schema) -> {
          for (String name :
              List.of("additionalProperties", "unevaluatedProperties", "unevaluatedItems")) {
            JsonNode others = schema.path(name);
            boolean isTrivial = others.equals(never) || others.isObject() && others.isEmpty();
            if (isTrivial && !referenced.contains(pointer + "/" + name)) {
              schema.put(name, others.isEmpty());
            }
          }
        });
  }

  /** The declared types; an empty list if the keyword is absent. */
  static List<String> types(JsonNode schema) {
    JsonNode declared = schema.path("type");
    return declared.isTextual()
        ? List.of(declared.textValue())
        : declared.valueStream().map(JsonNode::textValue).toList();
  }

  /** Declares one type as a string, several as a list. */
  static void putTypes(ObjectNode schema, Collection<String> types) {
    if (types.size() == 1) {
      schema.put("type", types.iterator().next());
    } else {
      types.forEach(schema.putArray("type")::add);
    }
  }

  /** The type of a value. */
  static String typeOf(JsonNode value) {
    return switch (value.getNodeType()) {
      case OBJECT -> "object";
      case ARRAY -> "array";
      case STRING -> "string";
      case BOOLEAN -> "boolean";
      case NUMBER -> value.isIntegralNumber() ? "integer" : "number";
      default -> "null";
    };
  }

  /** The names of the required properties, in order. */
  static Set<String> required(JsonNode schema) {
    return schema
        .path("required")
        .valueStream()
        .map(JsonNode::asText)
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** The only values that {@code const} or {@code enum} allows; empty if there are neither. */
  static List<JsonNode> enumerated(JsonNode schema) {
    return schema.has("const")
        ? List.of(schema.get("const"))
        : schema.path("enum").valueStream().toList();
  }

  /** The schema itself if it is the only one, else their union. */
  static JsonNode anyOf(Collection<? extends JsonNode> schemas) {
    ObjectNode union = Json.object();
    union.putArray("anyOf").addAll(schemas);
    return schemas.size() == 1 ? schemas.iterator().next() : union;
  }

  /** A schema with only the title and the description of the given one. */
  static ObjectNode titleAndDescription(JsonNode schema) {
    ObjectNode copy = Json.object();
    for (String name : List.of("title", "description")) {
      if (schema.has(name)) {
        copy.set(name, schema.get(name));
      }
    }
    return copy;
  }

  /** The JSON Pointer of a member. */
  static String at(String pointer, String name) {
    return pointer + "/" + name.replace("~", "~0").replace("/", "~1");
  }
}
