package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Reduces a schema to OpenAI's Structured Outputs (guides/structured-outputs, supported schemas):
 * every object is closed and requires all its properties, and optional properties become nullable.
 * Definitions and recursion are allowed, most assertions are not.
 */
final class StrictSchema {
  private static final int MAX_DEPTH = 10;
  private static final int MAX_NESTED = 100;
  private static final int MAX_PROPERTIES = 5_000;
  private static final int MAX_ENUM = 1_000;
  private static final int MAX_CHARACTERS = 120_000;
  private static final Set<String> FORMATS =
      Set.of("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid");
  private static final Set<String> BOUNDS =
      Set.of("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum");
  private static final Map<String, Set<String>> ASSERTIONS =
      Map.of(
          "string",
          Set.of("pattern", "format"),
          "number",
          BOUNDS,
          "integer",
          BOUNDS,
          "array",
          Set.of("minItems", "maxItems"));

  private final ObjectNode root;
  private final ReductionReport reductionReport;
  private int nested;
  private int properties;
  private int values;
  private int characters;

  /** Strict mode cannot express the schema. Has no stack trace; caught by SchemaDialect. */
  static final class Inexpressible extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final String pointer;

    Inexpressible(String pointer, String reason) {
      super(reason, null, false, false);
      this.pointer = pointer;
    }

    String pointer() {
      return pointer;
    }
  }

  StrictSchema(ObjectNode root, ReductionReport reductionReport) {
    this.root = root;
    this.reductionReport = reductionReport;
  }

  ObjectNode reduce() {
    reportDropped(root, List.of("object"), "");
    ObjectNode strict = object(root, "", 1);
    ObjectNode definitions = Json.object();
    for (String keyword : List.of("$defs", "definitions")) {
      root.path(keyword)
          .forEachEntry(
              (name, definition) -> {
                String at = Schemas.at("/" + keyword, name);
                characters += name.length();
                if (definitions.has(name)) {
                  throw new Inexpressible(at, "two definitions with the same name");
                }
                definitions.set(name, schema(definition, at, 1));
              });
    }
    if (!definitions.isEmpty()) {
      strict.set("$defs", definitions);
    }
    if (properties > MAX_PROPERTIES || values > MAX_ENUM || characters > MAX_CHARACTERS) {
      throw new Inexpressible("", "more properties or values than allowed");
    }
    return strict;
  }

  private ObjectNode schema(JsonNode node, String pointer, int depth) {
    if (depth > MAX_DEPTH || ++nested > MAX_NESTED) {
      throw new Inexpressible(pointer, "more than " + MAX_DEPTH + " levels");
    }
    ObjectNode strict = any(node, pointer, depth);
    nested--;
    return strict;
  }

  private ObjectNode any(JsonNode node, String pointer, int depth) {
    if (node.has("$ref")) {
      return reference(node, pointer);
    }
    if (node.has("allOf")) {
      return schema(merged(node, pointer), pointer, depth);
    }
    if (node.has("anyOf") || node.has("oneOf")) {
      return union(node, pointer, depth);
    }
    if (node.has("enum") || node.has("const")) {
      return values(node, pointer);
    }
    List<String> types = types(node, pointer);
    if (types.size() > 1 && (types.contains("object") || types.contains("array"))) {
      return anyOfTypes(node, types, pointer, depth);
    }
    reportDropped(node, types, pointer);
    return switch (types.get(0)) {
      case "object" -> object(node, pointer, depth);
      case "array" -> array(node, pointer, depth);
      default -> scalar(node, types, pointer);
    };
  }

  private ObjectNode object(JsonNode node, String pointer, int depth) {
    boolean isTop = pointer.isEmpty();
    JsonNode others = node.path("additionalProperties");
    boolean isClosed = others.path("not").isObject() && others.path("not").isEmpty();
    boolean isMap = !others.isEmpty() && !isClosed;
    if (isMap || node.has("patternProperties")) {
      throw new Inexpressible(pointer, "an object whose property names are not fixed");
    }
    JsonNode own = node.path("properties");
    if (own.isEmpty() && !isClosed && (!isTop || others.isObject())) {
      throw new Inexpressible(pointer, "an object with arbitrary properties");
    }
    ObjectNode strict = Schemas.titleAndDescription(node).put("type", "object");
    ObjectNode all = strict.putObject("properties");
    ArrayNode required = strict.putArray("required");
    Set<String> requiredNames = Schemas.required(node);
    own.forEachEntry(
        (name, property) -> {
          properties++;
          characters += name.length();
          ObjectNode value = schema(property, Schemas.at(pointer + "/properties", name), depth + 1);
          all.set(name, requiredNames.remove(name) ? value : nullable(value));
          required.add(name);
        });
    requiredNames.forEach(
        name -> reductionReport.add(pointer, "a required property without a schema: " + name));
    return strict.put("additionalProperties", false);
  }

  private ObjectNode array(JsonNode node, String pointer, int depth) {
    if (!node.path("items").isObject() || node.has("prefixItems")) {
      throw new Inexpressible(pointer, "an array of arbitrary items");
    }
    ObjectNode strict = asserted(node, List.of("array"));
    strict.set("items", schema(node.path("items"), pointer + "/items", depth + 1));
    return strict;
  }

  private ObjectNode scalar(JsonNode node, List<String> types, String pointer) {
    ObjectNode strict = asserted(node, types);
    String format = strict.path("format").asText(null);
    if (format != null && !FORMATS.contains(format)) {
      strict.remove("format");
      reductionReport.add(pointer + "/format", format);
    }
    return strict;
  }

  private ObjectNode values(JsonNode node, String pointer) {
    List<JsonNode> all = Schemas.enumerated(node);
    for (JsonNode value : all) {
      if (value.isContainerNode()) {
        throw new Inexpressible(pointer, "a value that is an object or an array");
      }
      characters += value.asText().length();
    }
    values += all.size();
    ObjectNode strict = Schemas.titleAndDescription(node);
    Schemas.putTypes(strict, all.stream().map(Schemas::typeOf).distinct().toList());
    strict.putArray("enum").addAll(all);
    return strict;
  }

  private ObjectNode union(JsonNode node, String pointer, int depth) {
    String keyword = node.has("anyOf") ? "anyOf" : "oneOf";
    if (node.has("properties") || node.has("anyOf") && node.has("oneOf")) {
      throw new Inexpressible(pointer, "a union combined with other keywords");
    }
    if (keyword.equals("oneOf")) {
      reductionReport.add(pointer + "/oneOf", "exactly one, relaxed to any");
    }
    ObjectNode strict = Schemas.titleAndDescription(node);
    ArrayNode branches = strict.putArray("anyOf");
    JsonNode all = node.get(keyword);
    for (int i = 0; i < all.size(); i++) {
      branches.add(schema(all.get(i), pointer + "/" + keyword + "/" + i, depth));
    }
    return strict;
  }

  private ObjectNode anyOfTypes(JsonNode node, List<String> types, String pointer, int depth) {
    ObjectNode strict = Schemas.titleAndDescription(node);
    ArrayNode branches = strict.putArray("anyOf");
    for (String type : types) {
      ObjectNode branch = ((ObjectNode) node).deepCopy();
      branch.remove(List.of("title", "description"));
      branches.add(schema(branch.put("type", type), pointer, depth));
    }
    return strict;
  }

  private ObjectNode reference(JsonNode node, String pointer) {
    String reference = node.get("$ref").textValue();
    String moved = reference.replaceFirst("^#/definitions/", "#/\\$defs/");
    if (!moved.equals("#") && !moved.matches("#/\\$defs/[^/]+")) {
      throw new Inexpressible(pointer, "a reference to something other than a definition");
    }
    if (node.size() > 1) {
      reductionReport.add(pointer, "keywords beside a reference");
    }
    return Json.object().put("$ref", moved);
  }

  private ObjectNode merged(JsonNode node, String pointer) {
    ObjectNode whole = ((ObjectNode) node).deepCopy();
    JsonNode parts = whole.remove("allOf");
    for (JsonNode part : parts) {
      JsonNode resolved = part;
      for (int i = 0; i < 20 && resolved.has("$ref"); i++) {
        resolved = Schemas.target(root, resolved.get("$ref"));
      }
      if (!resolved.isObject() || resolved.has("$ref") || resolved.has("allOf")) {
        throw new Inexpressible(pointer, "an allOf that cannot be merged");
      }
      resolved.forEachEntry((name, value) -> merge(whole, name, value, pointer));
    }
    return whole;
  }

  private static void merge(ObjectNode whole, String name, JsonNode value, String pointer) {
    JsonNode existing = whole.path(name);
    if (existing.isMissingNode() || existing.equals(value)) {
      whole.set(name, value);
    } else if (name.equals("properties")) {
      ObjectNode combined = existing.deepCopy();
      value.forEachEntry(
          (property, schema) -> {
            if (!schema.equals(combined.path(property)) && combined.has(property)) {
              throw new Inexpressible(pointer, "different schemas for one property");
            }
            combined.set(property, schema);
          });
      whole.set(name, combined);
    } else if (name.equals("required")) {
      Set<String> names = Schemas.required(whole);
      value.forEach(required -> names.add(required.asText()));
      names.forEach(whole.putArray(name)::add);
    } else if (!Set.of("title", "description", "default", "examples").contains(name)) {
      throw new Inexpressible(pointer, "conflicting keywords for one value");
    }
  }

  /** The types of a node, inferred from other keywords if none are declared; null comes last. */
  private static List<String> types(JsonNode node, String pointer) {
    List<String> types = Schemas.types(node);
    if (!types.isEmpty()) {
      return types.stream().sorted(Comparator.comparing("null"::equals)).toList();
    }
    if (node.has("properties") || node.has("required")) {
      return List.of("object");
    }
    if (node.has("items")) {
      return List.of("array");
    }
    throw new Inexpressible(pointer, "a value of any type");
  }

  private static ObjectNode nullable(ObjectNode schema) {
    List<String> types = Schemas.types(schema);
    if (types.contains("null")) {
      return schema;
    }
    if (types.isEmpty() || schema.has("properties") || schema.has("items")) {
      ObjectNode union = Json.object();
      union.putArray("anyOf").add(schema).addObject().put("type", "null");
      return union;
    }
    Schemas.putTypes(schema, Stream.concat(types.stream(), Stream.of("null")).toList());
    if (schema.path("enum") instanceof ArrayNode enumValues) {
      schema.set("enum", enumValues.deepCopy().addNull());
    }
    return schema;
  }

  /** The title, the description and the assertions that apply to these types. */
  private static ObjectNode asserted(JsonNode node, List<String> types) {
    ObjectNode copy = Schemas.titleAndDescription(node);
    Schemas.putTypes(copy, types);
    assertions(types).filter(node::has).sorted().forEach(name -> copy.set(name, node.get(name)));
    return copy;
  }

  private static Stream<String> assertions(List<String> types) {
    return types.stream().flatMap(type -> ASSERTIONS.getOrDefault(type, Set.of()).stream());
  }

  private void reportDropped(JsonNode node, List<String> types, String pointer) {
    reductionReport.addDropped(pointer, node, assertions(types).toList(), "not in strict mode");
  }
}
