package dev.mcpbridge.dialect;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Schemas for which valid values are easy to generate; property names are unique. */
public final class SimpleSchemas {
  private final Random random;
  private int names;

  private SimpleSchemas(Random random) {
    this.random = random;
  }

  /** Only constructs that every dialect can express. */
  public static ObjectNode plain(Random random) {
    return new SimpleSchemas(random).object(3, false);
  }

  /** Objects with definitions, unions, nullable values and maps. */
  public static ObjectNode rich(Random random) {
    SimpleSchemas schemas = new SimpleSchemas(random);
    ObjectNode root = schemas.object(3, true);
    root.putObject("$defs").set("leaf", schemas.object(1, false));
    root.withObjectProperty("$defs").set("node", schemas.node());
    return root;
  }

  /** Like {@link #rich}, with a union at the top level. */
  static ObjectNode branching(Random random) {
    SimpleSchemas schemas = new SimpleSchemas(random);
    ObjectNode root = rich(random);
    ArrayNode branches = root.putArray(random.nextBoolean() ? "anyOf" : "oneOf");
    for (String kind : List.of("x", "y", "z")) {
      schemas.names += 1000;
      ObjectNode branch = schemas.object(1, false);
      branch.withObjectProperty("properties").putObject("kind").put("const", kind);
      branch.withArrayProperty("required").add("kind");
      branches.add(branch);
    }
    schemas.names += 1000;
    root.putArray("allOf").add(schemas.object(1, false));
    return root;
  }

  private ObjectNode node() {
    ObjectNode node = object(0, false);
    ObjectNode self = RandomSchemas.JSON.objectNode().put("$ref", "#/$defs/node");
    ArrayNode alternatives =
        node.withObjectProperty("properties").putObject("next").putArray("anyOf");
    alternatives.add(self).addObject().put("type", "null");
    return node;
  }

  private ObjectNode object(int depth, boolean isRich) {
    ObjectNode object = RandomSchemas.JSON.objectNode().put("type", "object");
    ObjectNode properties = object.putObject("properties");
    ArrayNode required = object.putArray("required");
    for (int i = 1 + random.nextInt(3); i > 0; i--) {
      String name = "p" + names++;
      properties.set(name, schema(depth - 1, isRich));
      if (random.nextBoolean()) {
        required.add(name);
      }
    }
    if (isRich && random.nextInt(3) == 0) {
      object.put("additionalProperties", random.nextBoolean());
    }
    return object;
  }

  private ObjectNode schema(int depth, boolean isRich) {
    ObjectNode schema = RandomSchemas.JSON.objectNode();
    switch (depth > 0 ? random.nextInt(isRich ? 12 : 7) : random.nextInt(5)) {
      case 0 -> schema.put("type", "string").put("description", "Some words");
      case 1 -> schema.put("type", "integer").put("minimum", 3).put("maximum", 9);
      case 2 -> schema.put("type", "number");
      case 3 -> schema.put("type", "boolean");
      case 4 -> schema.put("type", "string").putArray("enum").add("a").add("b");
      case 5 ->
          schema.put("type", "array").put("maxItems", 4).set("items", schema(depth - 1, isRich));
      case 6 -> schema.setAll(object(depth - 1, isRich));
      case 7 -> schema.putArray("type").add(random.nextBoolean() ? "string" : "number").add("null");
      case 8 -> schema.put("$ref", random.nextBoolean() ? "#/$defs/leaf" : "#/$defs/node");
      case 9 -> {
        schema.putArray("anyOf").addObject().put("$ref", "#/$defs/leaf");
        schema
            .withArrayProperty("anyOf")
            .add(object(depth - 1, isRich))
            .addObject()
            .put("type", "null");
      }
      case 10 -> schema.putArray("allOf").add(object(depth - 1, false)).add(object(0, false));
      default -> schema.put("const", random.nextBoolean() ? "c" : "d");
    }
    return schema;
  }

  /** A value that one of these schemas, or its reduction, accepts. */
  static JsonNode instance(ObjectNode root, Random random) {
    return new Instances(root, random).of(root, 0);
  }

  private record Instances(ObjectNode root, Random random) {
    JsonNode of(JsonNode schema, int depth) {
      if (schema.has("$ref")) {
        String pointer = schema.get("$ref").asText().substring(1);
        return of(root.at(JsonPointer.compile(pointer)), depth + 1);
      }
      if (schema.has("enum") || schema.has("const")) {
        return schema.has("const") ? schema.get("const") : pick(schema.get("enum"));
      }
      if (schema.has("properties")) {
        return object(schema, depth);
      }
      if (schema.has("allOf")) {
        ObjectNode all = RandomSchemas.JSON.objectNode();
        schema.get("allOf").forEach(part -> all.setAll((ObjectNode) of(part, depth + 1)));
        return all;
      }
      if (schema.has("anyOf")) {
        JsonNode last = schema.get("anyOf").get(schema.get("anyOf").size() - 1);
        return of(depth > 8 ? last : pick(schema.get("anyOf")), depth + 1);
      }
      return scalar(schema, depth);
    }

    private JsonNode scalar(JsonNode schema, int depth) {
      List<String> types = new ArrayList<>(ProviderRules.types(schema));
      switch (types.get(random.nextInt(types.size()))) {
        case "string":
          return RandomSchemas.JSON.textNode(
              List.of("", "null", "5", "{}", "ü").get(random.nextInt(5)));
        case "integer":
          return RandomSchemas.JSON.numberNode(3 + random.nextInt(7));
        case "number":
          return RandomSchemas.JSON.numberNode(random.nextInt(10) / 4.0);
        case "boolean":
          return RandomSchemas.JSON.booleanNode(random.nextBoolean());
        case "array":
          ArrayNode array = RandomSchemas.JSON.arrayNode();
          for (int i = random.nextInt(3); i > 0; i--) {
            array.add(of(schema.get("items"), depth + 1));
          }
          return array;
        default:
          return RandomSchemas.JSON.nullNode();
      }
    }

    private ObjectNode object(JsonNode schema, int depth) {
      Set<String> required = new HashSet<>();
      schema.path("required").forEach(name -> required.add(name.asText()));
      ObjectNode object = RandomSchemas.JSON.objectNode();
      schema
          .get("properties")
          .properties()
          .forEach(
              property -> {
                boolean isOmitted = depth > 8 || random.nextBoolean();
                if (required.contains(property.getKey()) || !isOmitted) {
                  object.set(property.getKey(), of(property.getValue(), depth + 1));
                }
              });
      if (schema.path("additionalProperties").asBoolean(true) && random.nextInt(4) == 0) {
        object.put("more", 1);
      }
      for (String union : List.of("anyOf", "oneOf")) {
        if (schema.has(union)) {
          object.setAll((ObjectNode) of(pick(schema.get(union)), depth + 1));
        }
      }
      schema.path("allOf").forEach(part -> object.setAll((ObjectNode) of(part, depth + 1)));
      return object;
    }

    private JsonNode pick(JsonNode all) {
      return all.get(random.nextInt(all.size()));
    }
  }
}
