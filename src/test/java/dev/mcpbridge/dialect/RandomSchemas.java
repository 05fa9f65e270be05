package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigInteger;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/** Random schemas as servers write them, some of them invalid. */
final class RandomSchemas {
  static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final int MAX_DEPTH = 5;
  private static final List<String> NAMES =
      List.of(
          "a",
          "b",
          "c",
          "d",
          "name",
          "type",
          "properties",
          "items",
          "required",
          "enum",
          "$ref",
          "anyOf",
          "not",
          "const",
          "",
          " ",
          "a b",
          "a/b",
          "a~b",
          "ü",
          "🎉",
          "x".repeat(65),
          "a.b",
          "0",
          "$defs",
          "default",
          "\"",
          "\\",
          "%20",
          "constructor");
  private static final List<String> REFERENCES =
      List.of(
          "#",
          "#/",
          "#/properties/a",
          "#/properties/a%20b",
          "#/properties",
          "#/properties/properties",
          "#/$defs/missing",
          "#/$defs",
          "#/anyOf/0",
          "#/allOf/0/properties/a",
          "#/oneOf/1",
          "#/items",
          "#/items/0",
          "#/additionalProperties",
          "#/enum/0",
          "#/default",
          "#/definitions/0",
          "#/unknown/a",
          "#anchor",
          "#/%",
          "https://example.com/schema.json",
          "other.json#/a",
          "");
  private static final List<String> TYPES =
      List.of("object", "array", "string", "number", "integer", "boolean", "null");

  private final Random random;
  private final double garbage;
  private final int definitions;
  private int budget;

  private RandomSchemas(Random random) {
    this.random = random;
    this.garbage = random.nextBoolean() ? 0 : random.nextDouble() * 0.15;
    this.definitions = random.nextInt(4);
    this.budget = 1 + random.nextInt(40);
  }

  static JsonNode any(Random random) {
    return new RandomSchemas(random).root();
  }

  private JsonNode root() {
    if (chance(0.02)) {
      return value(2);
    }
    ObjectNode root = chance(0.1) ? (ObjectNode) object(1) : properties(JSON.objectNode(), 1);
    if (chance(0.7)) {
      root.put("type", "object");
    }
    if (chance(0.4)) {
      root.set(pick(List.of("anyOf", "oneOf", "allOf")), list(1));
    }
    maybe(0.05, () -> root.put("$ref", reference()));
    maybe(0.05, () -> root.set(pick(List.of("enum", "const", "not", "if", "then")), value(1)));
    maybe(0.05, () -> root.put("$schema", "http://json-schema.org/draft-07/schema#"));
    for (String place : List.of("$defs", "definitions")) {
      ObjectNode all = JSON.objectNode();
      for (int i = 0; i < definitions; i++) {
        all.set(pick(List.of("d0", "d1", "d2", "a b", "a/b")), schema(1));
      }
      maybe(0.8, () -> set(root, place, all));
    }
    return root;
  }

  private JsonNode schema(int depth) {
    if (chance(garbage)) {
      return value(1);
    }
    return chance(0.04) ? JSON.booleanNode(random.nextBoolean()) : object(depth);
  }

  private JsonNode object(int depth) {
    ObjectNode schema = JSON.objectNode();
    budget--;
    int kind = depth > MAX_DEPTH || budget < 0 ? random.nextInt(5) : random.nextInt(11);
    switch (kind) {
      case 0 -> text(schema);
      case 1 -> number(schema);
      case 2 -> set(schema, "type", type());
      case 3 -> values(schema);
      case 4 -> set(schema, "$ref", JSON.textNode(reference()));
      case 5, 6 -> properties(schema, depth);
      case 7 -> array(schema, depth);
      case 8 -> set(schema, pick(List.of("anyOf", "oneOf")), list(depth));
      case 9 -> set(schema, "allOf", list(depth));
      default -> {
        properties(schema, depth);
        array(schema, depth);
        set(schema, "type", type());
      }
    }
    otherKeywords(schema, depth);
    return schema;
  }

  private void otherKeywords(ObjectNode schema, int depth) {
    maybe(0.2, () -> set(schema, "description", JSON.textNode(name())));
    maybe(0.1, () -> set(schema, "title", JSON.textNode("A title")));
    maybe(0.05, () -> set(schema, "default", value(1)));
    maybe(0.03, () -> set(schema, "format", JSON.textNode("date")));
    maybe(0.03, () -> set(schema, pick(List.of("not", "if", "contains")), schema(depth + 1)));
    maybe(0.03, () -> set(schema, "$ref", JSON.textNode(reference())));
    maybe(0.03, () -> set(schema, "anyOf", list(depth)));
    maybe(0.03, () -> values(schema));
    maybe(0.03, () -> set(schema, pick(NAMES), value(1)));
    maybe(0.02, () -> set(schema, "$id", JSON.textNode("https://example.com/a")));
  }

  private void text(ObjectNode schema) {
    set(schema, "type", JSON.textNode("string"));
    maybe(0.2, () -> set(schema, "minLength", count()));
    maybe(0.2, () -> set(schema, "maxLength", count()));
    maybe(0.2, () -> set(schema, "pattern", JSON.textNode(pick(List.of("^a+$", "(", "\\d")))));
    List<String> formats = List.of("date-time", "uri", "email", "uuid", "date", "no-format");
    maybe(0.3, () -> set(schema, "format", JSON.textNode(pick(formats))));
  }

  private void number(ObjectNode schema) {
    set(schema, "type", JSON.textNode(chance(0.5) ? "integer" : "number"));
    for (String bound : List.of("minimum", "maximum", "exclusiveMinimum", "multipleOf")) {
      maybe(0.2, () -> set(schema, bound, amount()));
    }
    maybe(0.2, () -> set(schema, "format", JSON.textNode(pick(List.of("int32", "double", "x")))));
  }

  private void values(ObjectNode schema) {
    if (chance(0.3)) {
      set(schema, "const", value(1));
      return;
    }
    ArrayNode values = JSON.arrayNode();
    boolean areStrings = chance(0.6);
    for (int i = random.nextInt(5); i > 0; i--) {
      values.add(areStrings ? JSON.textNode(name()) : value(1));
    }
    maybe(0.3, () -> set(schema, "type", type()));
    set(schema, "enum", values);
  }

  private ObjectNode properties(ObjectNode schema, int depth) {
    ObjectNode all = JSON.objectNode();
    for (int i = random.nextInt(4); i > 0; i--) {
      all.set(name(), schema(depth + 1));
    }
    maybe(0.9, () -> set(schema, "type", JSON.textNode("object")));
    set(schema, "properties", all);
    ArrayNode required = JSON.arrayNode();
    all.fieldNames().forEachRemaining(name -> maybe(0.5, () -> required.add(name)));
    maybe(0.1, () -> required.add(name()));
    maybe(0.05, () -> required.add(value(0)));
    maybe(0.7, () -> set(schema, "required", required));
    maybe(0.3, () -> set(schema, "additionalProperties", JSON.booleanNode(chance(0.7))));
    maybe(0.1, () -> set(schema, "additionalProperties", schema(depth + 1)));
    maybe(0.05, () -> set(schema, "unevaluatedProperties", JSON.booleanNode(false)));
    maybe(0.05, () -> set(schema, "minProperties", count()));
    maybe(0.05, () -> schema.putObject("patternProperties").set("^x", schema(depth + 1)));
    return schema;
  }

  private void array(ObjectNode schema, int depth) {
    set(schema, "type", JSON.textNode("array"));
    maybe(0.7, () -> set(schema, "items", schema(depth + 1)));
    maybe(0.1, () -> set(schema, "items", chance(0.2) ? JSON.arrayNode() : list(depth)));
    maybe(0.15, () -> set(schema, "prefixItems", list(depth)));
    maybe(0.2, () -> set(schema, "minItems", count()));
    maybe(0.1, () -> set(schema, "uniqueItems", JSON.booleanNode(true)));
  }

  private ArrayNode list(int depth) {
    ArrayNode list = JSON.arrayNode();
    for (int i = 1 + random.nextInt(3); i > 0; i--) {
      list.add(schema(depth + 1));
    }
    return list;
  }

  private JsonNode type() {
    if (chance(0.5)) {
      return JSON.textNode(pick(TYPES));
    }
    ArrayNode types = JSON.arrayNode();
    for (int i = random.nextInt(4); i > 0; i--) {
      types.add(pick(TYPES));
    }
    maybe(0.1, () -> types.add("any"));
    return types;
  }

  private String reference() {
    if (chance(0.3)) {
      return pick(REFERENCES);
    }
    String name = pick(List.of("d0", "d1", "d2", "a%20b", "a~1b"));
    return (chance(0.7) ? "#/$defs/" : "#/definitions/") + name;
  }

  private JsonNode count() {
    return chance(0.05)
        ? JSON.numberNode(BigInteger.TEN.pow(20))
        : JSON.numberNode(random.nextInt(5));
  }

  private JsonNode amount() {
    return switch (random.nextInt(12)) {
      case 0 -> JSON.numberNode(Double.POSITIVE_INFINITY);
      case 1 -> JSON.numberNode(BigInteger.TEN.pow(400));
      case 2 -> JSON.numberNode(0.5);
      default -> JSON.numberNode(random.nextInt(20) - 5);
    };
  }

  /** Any JSON value. */
  private JsonNode value(int depth) {
    int kind = random.nextInt(depth > 0 ? 9 : 7);
    return switch (kind) {
      case 0 -> JSON.nullNode();
      case 1 -> JSON.booleanNode(random.nextBoolean());
      case 2 -> JSON.numberNode(random.nextInt(10) - 3);
      case 3 -> JSON.numberNode(1.5);
      case 4, 5, 6 -> JSON.textNode(chance(0.2) ? pick(TYPES) : name());
      case 7 -> JSON.arrayNode().add(value(depth - 1)).add(value(depth - 1));
      default -> JSON.objectNode().set(name(), value(depth - 1));
    };
  }

  private void set(ObjectNode schema, String keyword, JsonNode value) {
    schema.set(keyword, chance(garbage) ? value(2) : value);
  }

  private String name() {
    return chance(0.5) ? NAMES.get(random.nextInt(4)) : pick(NAMES);
  }

  private void maybe(double chance, Runnable run) {
    if (chance(chance)) {
      run.run();
    }
  }

  private boolean chance(double chance) {
    return random.nextDouble() < chance;
  }

  private <T> T pick(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  /** Visits all subschemas of a valid schema, outer schemas first. */
  static void each(JsonNode schema, Consumer<JsonNode> visit) {
    visit.accept(schema);
    for (String keyword :
        List.of(
            "items",
            "additionalProperties",
            "not",
            "if",
            "then",
            "else",
            "contains",
            "propertyNames",
            "unevaluatedItems",
            "unevaluatedProperties")) {
      if (schema.path(keyword).isObject()) {
        each(schema.get(keyword), visit);
      }
    }
    for (String keyword :
        List.of(
            "properties",
            "patternProperties",
            "$defs",
            "definitions",
            "dependentSchemas",
            "anyOf",
            "oneOf",
            "allOf",
            "prefixItems")) {
      schema.path(keyword).forEach(inner -> each(inner, visit));
    }
  }
}
