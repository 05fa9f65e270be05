package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
  private static final Map<String, Set<String>> ASSERTIONS =
      Map.of(
          "string", Set.of("pattern", "format"),
          "number",
              Set.of("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
          "integer",
              Set.of("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
          "array", Set.of("minItems", "maxItems"));
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
    for (String name : List.of("$defs", "definitions")) {
      root.path(name)
          .properties()
          .forEach(
              definition -> {
                ObjectNode definitions =
                    strict.path("$defs") instanceof ObjectNode existing
                        ? existing
                        : strict.putObject("$defs");
                String at = SchemaNormalizer.at("/" + name, definition);
                characters += definition.getKey().length();
                if (definitions.has(definition.getKey())) {
                  throw new Inexpressible(at, "two definitions with the same name");
                }
                definitions.set(definition.getKey(), schema(definition.getValue(), at, 1));
              });
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
    ObjectNode strict = SchemaNormalizer.titleAndDescription(node);
    strict.put("type", "object");
    ObjectNode all = strict.putObject("properties");
    ArrayNode required = strict.putArray("required");
    Set<String> requiredNames = new LinkedHashSet<>();
    node.path("required").forEach(name -> requiredNames.add(name.asText()));
    own.properties()
        .forEach(
            property -> {
              properties++;
              characters += property.getKey().length();
              String at = SchemaNormalizer.at(pointer + "/properties", property);
              ObjectNode value = schema(property.getValue(), at, depth + 1);
              boolean isRequired = requiredNames.contains(property.getKey());
              all.set(property.getKey(), isRequired ? value : nullable(value));
              required.add(property.getKey());
            });
    requiredNames.stream()
        .filter(name -> !all.has(name))
        .forEach(
            name -> reductionReport.add(pointer, "a required property without a schema: " + name));
    strict.put("additionalProperties", false);
    return strict;
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
    ArrayNode all = SchemaNormalizer.JSON.arrayNode();
    if (node.has("enum")) {
      all.addAll((ArrayNode) node.get("enum"));
    } else {
      all.add(node.get("const"));
    }
    Set<String> types = new LinkedHashSet<>();
    for (JsonNode value : all) {
      if (value.isContainerNode()) {
        throw new Inexpressible(pointer, "a value that is an object or an array");
      }
      types.add(typeOf(value));
      characters += value.asText().length();
    }
    this.values += all.size();
    ObjectNode strict = SchemaNormalizer.titleAndDescription(node);
    typed(strict, types);
    strict.set("enum", all);
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
    ObjectNode strict = SchemaNormalizer.titleAndDescription(node);
    ArrayNode branches = strict.putArray("anyOf");
    JsonNode all = node.get(keyword);
    for (int i = 0; i < all.size(); i++) {
      branches.add(schema(all.get(i), pointer + "/" + keyword + "/" + i, depth));
    }
    return strict;
  }

  private ObjectNode anyOfTypes(JsonNode node, List<String> types, String pointer, int depth) {
    ObjectNode strict = SchemaNormalizer.titleAndDescription(node);
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
    return SchemaNormalizer.JSON.objectNode().put("$ref", moved);
  }

  private ObjectNode merged(JsonNode node, String pointer) {
    ObjectNode whole = ((ObjectNode) node).deepCopy();
    JsonNode parts = whole.remove("allOf");
    for (JsonNode part : parts) {
      JsonNode resolved = part;
      for (int i = 0; i < 20 && resolved.has("$ref"); i++) {
        resolved = SchemaReferences.target(root, resolved.get("$ref"));
      }
      if (!resolved.isObject() || resolved.has("$ref") || resolved.has("allOf")) {
        throw new Inexpressible(pointer, "an allOf that cannot be merged");
      }
      resolved.properties().forEach(keyword -> merge(whole, keyword, pointer));
    }
    return whole;
  }

  private static void merge(ObjectNode whole, Map.Entry<String, JsonNode> keyword, String pointer) {
    String name = keyword.getKey();
    JsonNode existing = whole.get(name);
    if (existing == null || existing.equals(keyword.getValue())) {
      whole.set(name, keyword.getValue());
    } else if (name.equals("properties")) {
      ObjectNode combined = ((ObjectNode) existing).deepCopy();
      keyword
          .getValue()
          .properties()
          .forEach(
              property -> {
                if (combined.has(property.getKey())
                    && !combined.get(property.getKey()).equals(property.getValue())) {
                  throw new Inexpressible(pointer, "different schemas for one property");
                }
                combined.set(property.getKey(), property.getValue());
              });
      whole.set(name, combined);
    } else if (name.equals("required")) {
      Set<JsonNode> names = new LinkedHashSet<>();
      existing.forEach(names::add);
      keyword.getValue().forEach(names::add);
      whole.set(name, SchemaNormalizer.JSON.arrayNode().addAll(names));
    } else if (!Set.of("title", "description", "default", "examples").contains(name)) {
      throw new Inexpressible(pointer, "conflicting keywords for one value");
    }
  }

  /** The types of a node, inferred from other keywords if none are declared; null comes last. */
  private static List<String> types(JsonNode node, String pointer) {
    JsonNode declared = node.path("type");
    if (declared.isTextual()) {
      return List.of(declared.textValue());
    }
    List<String> types = new ArrayList<>();
    declared.forEach(type -> types.add(type.textValue()));
    if (types.isEmpty() && (node.has("properties") || node.has("required"))) {
      types.add("object");
    } else if (types.isEmpty() && node.has("items")) {
      types.add("array");
    } else if (types.isEmpty()) {
      throw new Inexpressible(pointer, "a value of any type");
    }
    types.sort((a, b) -> Boolean.compare(a.equals("null"), b.equals("null")));
    return types;
  }

  private ObjectNode nullable(ObjectNode schema) {
    if (SchemaNormalizer.hasType(schema, "null")) {
      return schema;
    }
    JsonNode type = schema.path("type");
    boolean isPlain = !type.isMissingNode() && !schema.has("properties") && !schema.has("items");
    if (!isPlain) {
      ArrayNode branches = SchemaNormalizer.JSON.arrayNode();
      branches.add(schema).add(SchemaNormalizer.JSON.objectNode().put("type", "null"));
      return SchemaNormalizer.JSON.objectNode().set("anyOf", branches);
    }
    Set<String> types = new LinkedHashSet<>();
    if (type.isTextual()) {
      types.add(type.textValue());
    }
    type.forEach(each -> types.add(each.textValue()));
    types.add("null");
    typed(schema, types);
    if (schema.path("enum") instanceof ArrayNode enumValues) {
      schema.set("enum", enumValues.deepCopy().addNull());
    }
    return schema;
  }

  private static void typed(ObjectNode schema, Collection<String> types) {
    if (types.size() == 1) {
      schema.put("type", types.iterator().next());
    } else {
      ArrayNode several = schema.putArray("type");
      types.forEach(several::add);
    }
  }

  private static ObjectNode asserted(JsonNode node, List<String> types) {
    ObjectNode copy = SchemaNormalizer.titleAndDescription(node);
    typed(copy, types);
    types.stream()
        .flatMap(type -> ASSERTIONS.getOrDefault(type, Set.of()).stream())
        .filter(node::has)
        .sorted()
        .forEach(name -> copy.set(name, node.get(name)));
    return copy;
  }

  private void reportDropped(JsonNode node, List<String> types, String pointer) {
    node.fieldNames()
        .forEachRemaining(
            name -> {
              boolean isKept =
                  SchemaNormalizer.STRUCTURAL_KEYWORDS.contains(name)
                      || types.stream()
                          .anyMatch(type -> ASSERTIONS.getOrDefault(type, Set.of()).contains(name));
              if (!isKept) {
                reductionReport.add(
                    pointer + "/" + SchemaNormalizer.escaped(name), "not in strict mode");
              }
            });
  }

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
}
