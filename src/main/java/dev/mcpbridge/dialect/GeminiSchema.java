package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The {@code Schema} of Gemini's function declarations: a part of OpenAPI 3.0. References are
 * written out, recursion ends after some rounds, and what has no words there (an object of any
 * properties, a list of anything) is asked for as JSON text, which {@link ArgumentRestorer} reads.
 */
final class GeminiSchema {
  private static final int ROUNDS = 2;
  private static final int MAX_DEPTH = 12;
  private static final int MAX_NODES = 3_000;
  private static final Map<String, Set<String>> KEPT =
      Map.of(
          "string", Set.of("minLength", "maxLength", "pattern"),
          "number", Set.of("minimum", "maximum"),
          "integer", Set.of("minimum", "maximum"),
          "boolean", Set.of(),
          "array", Set.of("minItems", "maxItems"),
          "object", Set.of("minProperties", "maxProperties"));
  private static final Map<String, Set<String>> FORMATS =
      Map.of(
          "string", Set.of("date-time"),
          "number", Set.of("float", "double"),
          "integer", Set.of("int32", "int64"));
  private final ObjectNode root;
  private final ReductionReport reductionReport;
  private int nodes;

  GeminiSchema(ObjectNode root, ReductionReport reductionReport) {
    this.root = root;
    this.reductionReport = reductionReport;
  }

  /** Without any properties it is empty: such a function is declared without parameters. */
  ObjectNode reduce() {
    return root.path("properties").isEmpty()
        ? SchemaNormalizer.JSON.objectNode()
        : typed(root, "object", new Way("", 0, List.of(), Set.of()));
  }

  /** Where the walk is, how deep, through which references, and which are merged in this place. */
  private record Way(String place, int depth, List<String> references, Set<String> merged) {
    Way into(String step) {
      return new Way(place + step, depth + 1, references, Set.of());
    }

    Way with(Set<String> known) {
      return new Way(place, depth, references, known);
    }

    Way through(String reference) {
      List<String> more = new ArrayList<>(references);
      more.add(reference);
      return new Way(place, depth, more, merged);
    }

    long rounds(String reference) {
      return references.stream().filter(reference::equals).count();
    }
  }

  private ObjectNode schema(JsonNode node, Way way) {
    if (way.depth() > MAX_DEPTH || ++nodes > MAX_NODES) {
      return text(node, way, "too deep or too large");
    }
    if (node.has("$ref")) {
      String reference = node.get("$ref").textValue();
      return way.rounds(reference) >= ROUNDS
          ? text(node, way, "recursion, ended after " + ROUNDS + " rounds")
          : schema(
              beside(node, SchemaReferences.target(root, node.get("$ref"))),
              way.through(reference));
    }
    if (node.has("allOf")) {
      Set<String> known = new HashSet<>(way.merged());
      return schema(merged(node, known), way.with(known));
    }
    for (String union : List.of("anyOf", "oneOf")) {
      if (node.has(union)) {
        return union(node, union, way);
      }
    }
    List<String> types = types(node);
    boolean isNullable = types.remove("null");
    ObjectNode schema =
        types.isEmpty()
            ? text(node, way, "a value of any type")
            : types.size() == 1 ? typed(node, types.get(0), way) : each(node, types, way);
    return isNullable ? nullable(schema) : schema;
  }

  private ObjectNode typed(JsonNode node, String type, Way way) {
    ObjectNode schema = SchemaNormalizer.described(node).put("type", type);
    KEPT.get(type).stream()
        .filter(keyword -> fits(node.path(keyword), keyword))
        .sorted()
        .forEach(keyword -> schema.set(keyword, node.get(keyword)));
    String format = node.path("format").asText("");
    if (FORMATS.getOrDefault(type, Set.of()).contains(format)) {
      schema.put("format", format);
    } else if (!format.isEmpty()) {
      mention(schema, "Format: " + format);
    }
    reportOthers(node, type, way);
    return switch (type) {
      case "object" -> object(node, schema, way);
      case "array" -> array(node, schema, way);
      default -> values(node, schema, way);
    };
  }

  /** Counts are of 64 bits. */
  private static boolean fits(JsonNode value, String keyword) {
    boolean isBound = keyword.equals("minimum") || keyword.equals("maximum");
    return isBound ? value.isNumber() : value.isTextual() || value.canConvertToLong();
  }

  private ObjectNode object(JsonNode node, ObjectNode schema, Way way) {
    JsonNode properties = node.path("properties");
    if (properties.isEmpty()) {
      return text(node, way, "an object of any properties");
    }
    ObjectNode all = schema.putObject("properties");
    properties
        .properties()
        .forEach(
            property ->
                all.set(
                    property.getKey(),
                    schema(
                        property.getValue(),
                        way.into(SchemaNormalizer.at("/properties", property)))));
    Set<String> required = new LinkedHashSet<>();
    node.path("required").forEach(name -> required.add(name.asText()));
    required.removeIf(name -> !all.has(name));
    if (!required.isEmpty()) {
      required.forEach(schema.putArray("required")::add);
    }
    return schema;
  }

  private ObjectNode array(JsonNode node, ObjectNode schema, Way way) {
    boolean isTuple = node.has("prefixItems");
    JsonNode items = node.path("items");
    if (isTuple || items.isMissingNode()) {
      return text(node, way, "a list of anything");
    }
    schema.set("items", schema(items, way.into("/items")));
    return schema;
  }

  /** Enumerations are of strings; others are told in words. */
  private ObjectNode values(JsonNode node, ObjectNode schema, Way way) {
    ArrayNode all = SchemaNormalizer.JSON.arrayNode();
    if (node.has("const")) {
      all.add(node.get("const"));
    } else {
      node.path("enum").forEach(all::add);
    }
    boolean hasNull = false;
    for (JsonNode value : all) {
      hasNull |= value.isNull();
    }
    all.removeIf(JsonNode::isNull);
    if (all.isEmpty()) {
      return schema;
    }
    boolean isText = schema.path("type").asText().equals("string");
    boolean areTexts = true;
    for (JsonNode value : all) {
      areTexts &= value.isTextual() && !value.textValue().isEmpty();
    }
    if (isText && areTexts) {
      schema.put("format", "enum").set("enum", all);
    } else {
      mention(schema, "One of: " + all);
      reductionReport.add(
          way.place() + "/enum", "values that are not texts, told in the description");
    }
    return hasNull ? nullable(schema) : schema;
  }

  /** A union has no other words beside it, so what is said of it is said of each branch. */
  private ObjectNode union(JsonNode node, String keyword, Way way) {
    if (keyword.equals("oneOf")) {
      reductionReport.add(way.place() + "/oneOf", "exactly one, taken as any");
    }
    ObjectNode common = ((ObjectNode) node).deepCopy();
    JsonNode branches = common.remove(keyword);
    common.remove(List.of("anyOf", "oneOf"));
    List<ObjectNode> kept = new ArrayList<>();
    boolean isNullable = false;
    for (int i = 0; i < branches.size(); i++) {
      JsonNode branch = branches.get(i);
      if (branch.path("type").asText().equals("null")) {
        isNullable = true;
      } else {
        Way in = way.into("/" + keyword + "/" + i);
        kept.add(schema(beside(common, branch), in));
      }
    }
    return either(kept, isNullable, node, way);
  }

  private ObjectNode each(JsonNode node, List<String> types, Way way) {
    return either(types.stream().map(type -> typed(node, type, way)).toList(), false, node, way);
  }

  private ObjectNode either(List<ObjectNode> branches, boolean isNullable, JsonNode node, Way way) {
    Set<ObjectNode> distinct = new LinkedHashSet<>(branches);
    if (distinct.isEmpty()) {
      return text(node, way, "nothing but null").put("nullable", true);
    }
    if (distinct.size() == 1) {
      ObjectNode only = distinct.iterator().next();
      return isNullable ? nullable(only) : only;
    }
    if (isNullable) {
      distinct.forEach(GeminiSchema::nullable);
    }
    ObjectNode union = SchemaNormalizer.JSON.objectNode();
    union.set("anyOf", SchemaNormalizer.JSON.arrayNode().addAll(distinct));
    return union;
  }

  /** A union has no other words beside it, so each of its branches may be null. */
  private static ObjectNode nullable(ObjectNode schema) {
    if (schema.has("anyOf")) {
      schema.get("anyOf").forEach(branch -> nullable((ObjectNode) branch));
      return schema;
    }
    return schema.put("nullable", true);
  }

  /** A branch together with what stands beside its union; the branch has the last word. */
  private static ObjectNode beside(JsonNode common, JsonNode branch) {
    ObjectNode both = ((ObjectNode) common).deepCopy();
    both.remove("$ref");
    JsonNode outer = both.get("properties");
    if (branch instanceof ObjectNode object) {
      both.setAll(object);
    }
    if (outer instanceof ObjectNode properties && branch.path("properties").isObject()) {
      ObjectNode all = properties.deepCopy();
      all.setAll((ObjectNode) branch.get("properties"));
      both.set("properties", all);
    }
    return both;
  }

  /** What is merged already has nothing to add. */
  private ObjectNode merged(JsonNode node, Set<String> known) {
    ObjectNode whole = ((ObjectNode) node).deepCopy();
    JsonNode parts = whole.remove("allOf");
    for (JsonNode part : parts) {
      JsonNode meant = part;
      while (meant.has("$ref") && known.add(meant.get("$ref").textValue())) {
        meant = beside(meant, SchemaReferences.target(root, meant.get("$ref")));
      }
      if (!meant.has("$ref")) {
        Set<JsonNode> required = new LinkedHashSet<>();
        whole.path("required").forEach(required::add);
        meant.path("required").forEach(required::add);
        whole = beside(whole, meant);
        whole.set("required", SchemaNormalizer.JSON.arrayNode().addAll(required));
      }
    }
    return whole;
  }

  private ObjectNode text(JsonNode node, Way way, String why) {
    reductionReport.add(way.place(), why + ", asked for as JSON text");
    ObjectNode text = SchemaNormalizer.described(node).put("type", "string");
    mention(text, "Give the value as JSON text.");
    return text;
  }

  private static List<String> types(JsonNode node) {
    List<String> types = new ArrayList<>();
    if (node.path("type").isTextual()) {
      types.add(node.get("type").textValue());
    }
    node.path("type").forEach(type -> types.add(type.textValue()));
    if (!types.isEmpty()) {
      return types;
    }
    if (node.has("properties")) {
      types.add("object");
    } else if (node.has("items") || node.has("prefixItems")) {
      types.add("array");
    } else {
      Set<String> found = new LinkedHashSet<>();
      node.path("enum").forEach(value -> found.add(StrictSchema.typeOf(value)));
      if (node.has("const")) {
        found.add(StrictSchema.typeOf(node.get("const")));
      }
      types.addAll(found);
    }
    return types;
  }

  private static void mention(ObjectNode schema, String words) {
    String known = schema.path("description").asText("");
    schema.put("description", known.isEmpty() ? words : known + " " + words);
  }

  private void reportOthers(JsonNode node, String type, Way way) {
    node.fieldNames()
        .forEachRemaining(
            name -> {
              if (!SchemaNormalizer.STRUCTURE.contains(name)
                  && !name.equals("format")
                  && !KEPT.get(type).contains(name)) {
                reductionReport.add(
                    way.place() + "/" + SchemaNormalizer.escaped(name), "not in Gemini's subset");
              }
            });
  }
}
