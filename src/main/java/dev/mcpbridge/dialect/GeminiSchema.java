package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reduces a schema to Gemini's {@code Schema}, a subset of OpenAPI 3.0. References are inlined and
 * recursion is cut. Values that the subset cannot express (objects with arbitrary properties,
 * arrays of arbitrary items) are requested as JSON text and parsed by {@link ArgumentRestorer}.
 */
final class GeminiSchema {
  private static final int MAX_RECURSION = 2;
  private static final int MAX_DEPTH = 12;
  private static final int MAX_NODES = 3_000;
  private static final Map<String, Set<String>> KEYWORDS =
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

  /** Returns an empty object if there are no properties: Gemini then expects no parameters. */
  ObjectNode reduce() {
    return root.path("properties").isEmpty()
        ? Json.object()
        : typed(root, "object", new Position("", 0, List.of(), Set.of()));
  }

  /** A position in the schema: JSON Pointer, depth, references followed and references merged. */
  private record Position(String pointer, int depth, List<String> references, Set<String> merged) {
    Position into(String step) {
      return new Position(pointer + step, depth + 1, references, Set.of());
    }

    Position with(Set<String> merged) {
      return new Position(pointer, depth, references, merged);
    }

    Position through(String reference) {
      List<String> followed = new ArrayList<>(references);
      followed.add(reference);
      return new Position(pointer, depth, followed, merged);
    }

    long occurrences(String reference) {
      return references.stream().filter(reference::equals).count();
    }
  }

  private ObjectNode schema(JsonNode node, Position position) {
    if (position.depth() > MAX_DEPTH || ++nodes > MAX_NODES) {
      return text(node, position, "nested too deeply or too large");
    }
    if (node.has("$ref")) {
      String reference = node.get("$ref").textValue();
      return position.occurrences(reference) >= MAX_RECURSION
          ? text(node, position, "recursion, cut after " + MAX_RECURSION + " levels")
          : schema(
              overlay(node, Schemas.target(root, node.get("$ref"))), position.through(reference));
    }
    if (node.has("allOf")) {
      Set<String> merged = new HashSet<>(position.merged());
      return schema(merged(node, merged), position.with(merged));
    }
    for (String union : List.of("anyOf", "oneOf")) {
      if (node.has(union)) {
        return union(node, union, position);
      }
    }
    List<String> types = new ArrayList<>(types(node));
    boolean isNullable = types.remove("null");
    ObjectNode schema =
        types.isEmpty()
            ? text(node, position, "a value of any type")
            : anyOf(types.stream().map(type -> typed(node, type, position)).toList());
    return isNullable ? nullable(schema) : schema;
  }

  private ObjectNode typed(JsonNode node, String type, Position position) {
    ObjectNode schema = Schemas.titleAndDescription(node).put("type", type);
    KEYWORDS.get(type).stream()
        .filter(keyword -> fits(node.path(keyword), keyword))
        .sorted()
        .forEach(keyword -> schema.set(keyword, node.get(keyword)));
    String format = node.path("format").asText("");
    if (FORMATS.getOrDefault(type, Set.of()).contains(format)) {
      schema.put("format", format);
    } else if (!format.isEmpty()) {
      appendDescription(schema, "Format: " + format);
    }
    Set<String> kept = new HashSet<>(KEYWORDS.get(type));
    kept.add("format");
    reductionReport.addDropped(position.pointer(), node, kept, "not in Gemini's subset");
    return switch (type) {
      case "object" -> object(node, schema, position);
      case "array" -> array(node, schema, position);
      default -> values(node, schema, position);
    };
  }

  /** Gemini's counts are 64-bit integers. */
  private static boolean fits(JsonNode value, String keyword) {
    boolean isBound = keyword.equals("minimum") || keyword.equals("maximum");
    return isBound ? value.isNumber() : value.isTextual() || value.canConvertToLong();
  }

  private ObjectNode object(JsonNode node, ObjectNode schema, Position position) {
    JsonNode properties = node.path("properties");
    if (properties.isEmpty()) {
      return text(node, position, "an object with arbitrary properties");
    }
    ObjectNode all = schema.putObject("properties");
    properties.forEachEntry(
        (name, property) ->
            all.set(name, schema(property, position.into(Schemas.at("/properties", name)))));
    Set<String> required = Schemas.required(node);
    required.removeIf(name -> !properties.has(name));
    if (!required.isEmpty()) {
      required.forEach(schema.putArray("required")::add);
    }
    return schema;
  }

  private ObjectNode array(JsonNode node, ObjectNode schema, Position position) {
    boolean isTuple = node.has("prefixItems");
    JsonNode items = node.path("items");
    if (isTuple || items.isMissingNode()) {
      return text(node, position, "an array of arbitrary items");
    }
    schema.set("items", schema(items, position.into("/items")));
    return schema;
  }

  /** Only strings can be enumerated; other values are listed in the description. */
  private ObjectNode values(JsonNode node, ObjectNode schema, Position position) {
    List<JsonNode> all = new ArrayList<>(Schemas.enumerated(node));
    boolean hasNull = all.removeIf(JsonNode::isNull);
    if (all.isEmpty()) {
      return schema;
    }
    boolean areTexts = all.stream().allMatch(v -> v.isTextual() && !v.textValue().isEmpty());
    if (areTexts && schema.path("type").asText().equals("string")) {
      schema.put("format", "enum").putArray("enum").addAll(all);
    } else {
      appendDescription(schema, "One of: " + JsonNodeFactory.instance.arrayNode().addAll(all));
      reductionReport.add(
          position.pointer() + "/enum", "values that are not strings, listed in the description");
    }
    return hasNull ? nullable(schema) : schema;
  }

  /** A union cannot have other keywords, so these are copied to each branch. */
  private ObjectNode union(JsonNode node, String keyword, Position position) {
    if (keyword.equals("oneOf")) {
      reductionReport.add(position.pointer() + "/oneOf", "exactly one, relaxed to any");
    }
    ObjectNode common = ((ObjectNode) node).deepCopy();
    JsonNode branches = common.remove(keyword);
    common.remove(List.of("anyOf", "oneOf"));
    List<ObjectNode> alternatives = new ArrayList<>();
    boolean isNullable = false;
    for (int i = 0; i < branches.size(); i++) {
      JsonNode branch = branches.get(i);
      if (branch.path("type").asText().equals("null")) {
        isNullable = true;
      } else {
        Position branchPosition = position.into("/" + keyword + "/" + i);
        alternatives.add(schema(overlay(common, branch), branchPosition));
      }
    }
    if (alternatives.isEmpty()) {
      return text(node, position, "only null").put("nullable", true);
    }
    return isNullable ? nullable(anyOf(alternatives)) : anyOf(alternatives);
  }

  private static ObjectNode anyOf(List<ObjectNode> alternatives) {
    return (ObjectNode) Schemas.anyOf(new LinkedHashSet<>(alternatives));
  }

  /** A union cannot have other keywords, so each of its branches is made nullable. */
  private static ObjectNode nullable(ObjectNode schema) {
    if (schema.has("anyOf")) {
      schema.get("anyOf").forEach(branch -> nullable((ObjectNode) branch));
      return schema;
    }
    return schema.put("nullable", true);
  }

  /** Adds the keywords of a branch to the common ones; those of the branch take precedence. */
  private static ObjectNode overlay(JsonNode common, JsonNode branch) {
    ObjectNode combined = ((ObjectNode) common).deepCopy();
    combined.remove("$ref");
    JsonNode outer = combined.get("properties");
    if (branch instanceof ObjectNode object) {
      combined.setAll(object);
    }
    if (outer instanceof ObjectNode properties && branch.path("properties").isObject()) {
      ObjectNode all = properties.deepCopy();
      all.setAll((ObjectNode) branch.get("properties"));
      combined.set("properties", all);
    }
    return combined;
  }

  /** Merges {@code allOf}; references that have been merged before are skipped. */
  private ObjectNode merged(JsonNode node, Set<String> alreadyMerged) {
    ObjectNode whole = ((ObjectNode) node).deepCopy();
    JsonNode parts = whole.remove("allOf");
    for (JsonNode part : parts) {
      JsonNode resolved = part;
      while (resolved.has("$ref") && alreadyMerged.add(resolved.get("$ref").textValue())) {
        resolved = overlay(resolved, Schemas.target(root, resolved.get("$ref")));
      }
      if (!resolved.has("$ref")) {
        Set<String> required = Schemas.required(whole);
        required.addAll(Schemas.required(resolved));
        whole = overlay(whole, resolved);
        required.forEach(whole.putArray("required")::add);
      }
    }
    return whole;
  }

  private ObjectNode text(JsonNode node, Position position, String reason) {
    reductionReport.add(position.pointer(), reason + ", requested as JSON text");
    ObjectNode text = Schemas.titleAndDescription(node).put("type", "string");
    appendDescription(text, "Give the value as JSON text.");
    return text;
  }

  /** The types of a node, inferred from other keywords if none are declared. */
  private static List<String> types(JsonNode node) {
    if (node.has("type")) {
      return Schemas.types(node);
    }
    if (node.has("properties")) {
      return List.of("object");
    }
    if (node.has("items") || node.has("prefixItems")) {
      return List.of("array");
    }
    return Schemas.enumerated(node).stream().map(Schemas::typeOf).distinct().toList();
  }

  private static void appendDescription(ObjectNode schema, String text) {
    String description = schema.path("description").asText("");
    schema.put("description", description.isEmpty() ? text : description + " " + text);
  }
}
