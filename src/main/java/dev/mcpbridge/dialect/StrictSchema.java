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
 * OpenAI's Structured Outputs (guides/structured-outputs, supported schemas): every object is
 * closed and requires all its properties, so that one which may be left out may be null instead;
 * definitions and recursion are allowed, most assertions are not.
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

  /** It cannot be said; a stackless exception, caught where the dialect is chosen. */
  static final class Inexpressible extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final String place;

    Inexpressible(String place, String what) {
      super(what, null, false, false);
      this.place = place;
    }

    String place() {
      return place;
    }
  }

  StrictSchema(ObjectNode root, ReductionReport reductionReport) {
    this.root = root;
    this.reductionReport = reductionReport;
  }

  ObjectNode reduce() {
    reportOthers(root, List.of("object"), "");
    ObjectNode strict = object(root, "", 1);
    for (String name : List.of("$defs", "definitions")) {
      root.path(name)
          .properties()
          .forEach(
              definition -> {
                ObjectNode all =
                    strict.path("$defs") instanceof ObjectNode known
                        ? known
                        : strict.putObject("$defs");
                String at = SchemaNormalizer.at("/" + name, definition);
                characters += definition.getKey().length();
                if (all.has(definition.getKey())) {
                  throw new Inexpressible(at, "two definitions of one name");
                }
                all.set(definition.getKey(), schema(definition.getValue(), at, 1));
              });
    }
    if (properties > MAX_PROPERTIES || values > MAX_ENUM || characters > MAX_CHARACTERS) {
      throw new Inexpressible("", "more properties or values than it takes");
    }
    return strict;
  }

  private ObjectNode schema(JsonNode node, String place, int depth) {
    if (depth > MAX_DEPTH || ++nested > MAX_NESTED) {
      throw new Inexpressible(place, "more than " + MAX_DEPTH + " levels");
    }
    ObjectNode strict = any(node, place, depth);
    nested--;
    return strict;
  }

  private ObjectNode any(JsonNode node, String place, int depth) {
    if (node.has("$ref")) {
      return reference(node, place);
    }
    if (node.has("allOf")) {
      return schema(merged(node, place), place, depth);
    }
    if (node.has("anyOf") || node.has("oneOf")) {
      return union(node, place, depth);
    }
    if (node.has("enum") || node.has("const")) {
      return values(node, place);
    }
    List<String> types = types(node, place);
    if (types.size() > 1 && (types.contains("object") || types.contains("array"))) {
      return each(node, types, place, depth);
    }
    reportOthers(node, types, place);
    return switch (types.get(0)) {
      case "object" -> object(node, place, depth);
      case "array" -> array(node, place, depth);
      default -> scalar(node, types, place);
    };
  }

  private ObjectNode object(JsonNode node, String place, int depth) {
    boolean isTop = place.isEmpty();
    JsonNode others = node.path("additionalProperties");
    boolean isClosed = others.path("not").isObject() && others.path("not").isEmpty();
    boolean isMap = !others.isEmpty() && !isClosed;
    if (isMap || node.has("patternProperties")) {
      throw new Inexpressible(place, "an object with names that are not known before");
    }
    JsonNode own = node.path("properties");
    if (own.isEmpty() && !isClosed && (!isTop || others.isObject())) {
      throw new Inexpressible(place, "an object with any properties");
    }
    ObjectNode strict = SchemaNormalizer.described(node);
    strict.put("type", "object");
    ObjectNode all = strict.putObject("properties");
    ArrayNode required = strict.putArray("required");
    Set<String> needed = new LinkedHashSet<>();
    node.path("required").forEach(name -> needed.add(name.asText()));
    own.properties()
        .forEach(
            property -> {
              properties++;
              characters += property.getKey().length();
              String at = SchemaNormalizer.at(place + "/properties", property);
              ObjectNode value = schema(property.getValue(), at, depth + 1);
              boolean isNeeded = needed.contains(property.getKey());
              all.set(property.getKey(), isNeeded ? value : nullable(value));
              required.add(property.getKey());
            });
    needed.stream()
        .filter(name -> !all.has(name))
        .forEach(
            name -> reductionReport.add(place, "a required property without a schema: " + name));
    strict.put("additionalProperties", false);
    return strict;
  }

  private ObjectNode array(JsonNode node, String place, int depth) {
    if (!node.path("items").isObject() || node.has("prefixItems")) {
      throw new Inexpressible(place, "an array with any items");
    }
    ObjectNode strict = asserted(node, List.of("array"));
    strict.set("items", schema(node.path("items"), place + "/items", depth + 1));
    return strict;
  }

  private ObjectNode scalar(JsonNode node, List<String> types, String place) {
    ObjectNode strict = asserted(node, types);
    String format = strict.path("format").asText(null);
    if (format != null && !FORMATS.contains(format)) {
      strict.remove("format");
      reductionReport.add(place + "/format", format);
    }
    return strict;
  }

  private ObjectNode values(JsonNode node, String place) {
    ArrayNode all = SchemaNormalizer.JSON.arrayNode();
    if (node.has("enum")) {
      all.addAll((ArrayNode) node.get("enum"));
    } else {
      all.add(node.get("const"));
    }
    Set<String> types = new LinkedHashSet<>();
    for (JsonNode value : all) {
      if (value.isContainerNode()) {
        throw new Inexpressible(place, "a value that is an object or a list");
      }
      types.add(typeOf(value));
      characters += value.asText().length();
    }
    this.values += all.size();
    ObjectNode strict = SchemaNormalizer.described(node);
    typed(strict, types);
    strict.set("enum", all);
    return strict;
  }

  private ObjectNode union(JsonNode node, String place, int depth) {
    String keyword = node.has("anyOf") ? "anyOf" : "oneOf";
    if (node.has("properties") || node.has("anyOf") && node.has("oneOf")) {
      throw new Inexpressible(place, "a union beside other requirements");
    }
    if (keyword.equals("oneOf")) {
      reductionReport.add(place + "/oneOf", "exactly one, taken as any");
    }
    ObjectNode strict = SchemaNormalizer.described(node);
    ArrayNode branches = strict.putArray("anyOf");
    JsonNode all = node.get(keyword);
    for (int i = 0; i < all.size(); i++) {
      branches.add(schema(all.get(i), place + "/" + keyword + "/" + i, depth));
    }
    return strict;
  }

  private ObjectNode each(JsonNode node, List<String> types, String place, int depth) {
    ObjectNode strict = SchemaNormalizer.described(node);
    ArrayNode branches = strict.putArray("anyOf");
    for (String type : types) {
      ObjectNode one = ((ObjectNode) node).deepCopy();
      one.remove(List.of("title", "description"));
      branches.add(schema(one.put("type", type), place, depth));
    }
    return strict;
  }

  private ObjectNode reference(JsonNode node, String place) {
    String reference = node.get("$ref").textValue();
    String moved = reference.replaceFirst("^#/definitions/", "#/\\$defs/");
    if (!moved.equals("#") && !moved.matches("#/\\$defs/[^/]+")) {
      throw new Inexpressible(place, "a reference to a place that is no definition");
    }
    if (node.size() > 1) {
      reductionReport.add(place, "what stands beside a reference");
    }
    return SchemaNormalizer.JSON.objectNode().put("$ref", moved);
  }

  private ObjectNode merged(JsonNode node, String place) {
    ObjectNode whole = ((ObjectNode) node).deepCopy();
    JsonNode parts = whole.remove("allOf");
    for (JsonNode part : parts) {
      JsonNode meant = part;
      for (int i = 0; i < 20 && meant.has("$ref"); i++) {
        meant = SchemaReferences.target(root, meant.get("$ref"));
      }
      if (!meant.isObject() || meant.has("$ref") || meant.has("allOf")) {
        throw new Inexpressible(place, "requirements within requirements");
      }
      meant.properties().forEach(keyword -> merge(whole, keyword, place));
    }
    return whole;
  }

  private static void merge(ObjectNode whole, Map.Entry<String, JsonNode> keyword, String place) {
    String name = keyword.getKey();
    JsonNode known = whole.get(name);
    if (known == null || known.equals(keyword.getValue())) {
      whole.set(name, keyword.getValue());
    } else if (name.equals("properties")) {
      ObjectNode both = ((ObjectNode) known).deepCopy();
      keyword
          .getValue()
          .properties()
          .forEach(
              property -> {
                if (both.has(property.getKey())
                    && !both.get(property.getKey()).equals(property.getValue())) {
                  throw new Inexpressible(place, "one property with several requirements");
                }
                both.set(property.getKey(), property.getValue());
              });
      whole.set(name, both);
    } else if (name.equals("required")) {
      Set<JsonNode> names = new LinkedHashSet<>();
      known.forEach(names::add);
      keyword.getValue().forEach(names::add);
      whole.set(name, SchemaNormalizer.JSON.arrayNode().addAll(names));
    } else if (!Set.of("title", "description", "default", "examples").contains(name)) {
      throw new Inexpressible(place, "several requirements for one value");
    }
  }

  /** What is known of a node without a type. */
  private static List<String> types(JsonNode node, String place) {
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
      throw new Inexpressible(place, "a value of any type");
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
      ArrayNode either = SchemaNormalizer.JSON.arrayNode();
      either.add(schema).add(SchemaNormalizer.JSON.objectNode().put("type", "null"));
      return SchemaNormalizer.JSON.objectNode().set("anyOf", either);
    }
    Set<String> types = new LinkedHashSet<>();
    if (type.isTextual()) {
      types.add(type.textValue());
    }
    type.forEach(one -> types.add(one.textValue()));
    types.add("null");
    typed(schema, types);
    if (schema.path("enum") instanceof ArrayNode known) {
      schema.set("enum", known.deepCopy().addNull());
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
    ObjectNode copy = SchemaNormalizer.described(node);
    typed(copy, types);
    types.stream()
        .flatMap(type -> ASSERTIONS.getOrDefault(type, Set.of()).stream())
        .filter(node::has)
        .sorted()
        .forEach(name -> copy.set(name, node.get(name)));
    return copy;
  }

  private void reportOthers(JsonNode node, List<String> types, String place) {
    node.fieldNames()
        .forEachRemaining(
            name -> {
              boolean isKept =
                  SchemaNormalizer.STRUCTURE.contains(name)
                      || types.stream()
                          .anyMatch(type -> ASSERTIONS.getOrDefault(type, Set.of()).contains(name));
              if (!isKept) {
                reductionReport.add(
                    place + "/" + SchemaNormalizer.escaped(name), "not in strict mode");
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
