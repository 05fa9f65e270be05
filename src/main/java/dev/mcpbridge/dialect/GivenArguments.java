package dev.mcpbridge.dialect;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes back what the dialects ask of a model: null for a property that may be left out, and JSON
 * text for a value that is no text. Only where the tool's own schema does not admit what was given;
 * anything else stays as it is. Stateless.
 */
public final class GivenArguments {
  private static final int MAX_DEPTH = 64;

  private final JsonNode root;
  private boolean changed;

  private GivenArguments(JsonNode root) {
    this.root = root;
  }

  /** What the tool is to get; the same object where nothing had to be changed. */
  public static JsonNode meant(JsonNode given, JsonNode schema) {
    GivenArguments arguments = new GivenArguments(schema);
    JsonNode copy = given.deepCopy();
    arguments.correct(copy, schema, 0);
    return arguments.changed ? copy : given;
  }

  private void correct(JsonNode value, JsonNode schema, int depth) {
    JsonNode meant = followed(schema);
    if (depth > MAX_DEPTH) {
      return;
    }
    if (value instanceof ObjectNode object) {
      for (String name : List.copyOf(names(object))) {
        property(object, name, meant, depth);
      }
    } else if (value instanceof ArrayNode array && meant.path("items").isObject()) {
      for (int i = 0; i < array.size(); i++) {
        JsonNode item = read(array.get(i), meant.get("items"));
        array.set(i, item);
        correct(item, meant.get("items"), depth + 1);
      }
    }
  }

  private void property(ObjectNode object, String name, JsonNode schema, int depth) {
    JsonNode own = schema.path("properties").path(name);
    if (own.isMissingNode()) {
      return;
    }
    JsonNode given = object.get(name);
    if (given.isNull() && !isRequired(schema, name) && !admits(own, "null", 0)) {
      object.remove(name);
      changed = true;
      return;
    }
    JsonNode meant = read(given, own);
    object.set(name, meant);
    correct(meant, own, depth + 1);
  }

  private JsonNode read(JsonNode given, JsonNode schema) {
    if (!given.isTextual() || admits(schema, "string", 0)) {
      return given;
    }
    try {
      JsonNode read = Json.mapper().readTree(given.textValue());
      if (read != null && !read.isTextual() && admits(schema, StrictSchema.typeOf(read), 0)) {
        changed = true;
        return read;
      }
    } catch (JsonProcessingException e) {
      // a text after all: the tool's own schema says what is wrong with it
    }
    return given;
  }

  private boolean admits(JsonNode schema, String type, int depth) {
    JsonNode meant = followed(schema);
    if (depth > MAX_DEPTH || meant.isBoolean()) {
      return !meant.isBoolean() || meant.booleanValue();
    }
    if (meant.has("type") && !isOfType(meant, type)) {
      return false;
    }
    if (meant.has("enum") && !anyOfType(meant.get("enum"), type)
        || meant.has("const") && !StrictSchema.typeOf(meant.get("const")).equals(type)) {
      return false;
    }
    for (JsonNode part : meant.path("allOf")) {
      if (!admits(part, type, depth + 1)) {
        return false;
      }
    }
    return branchAdmits(meant.path("anyOf"), type, depth)
        && branchAdmits(meant.path("oneOf"), type, depth);
  }

  private boolean branchAdmits(JsonNode branches, String type, int depth) {
    boolean any = branches.isEmpty();
    for (JsonNode branch : branches) {
      any |= admits(branch, type, depth + 1);
    }
    return any;
  }

  private JsonNode followed(JsonNode schema) {
    JsonNode meant = schema;
    for (int i = 0; i < MAX_DEPTH && meant.path("$ref").isTextual(); i++) {
      JsonNode target = References.target(root, meant.get("$ref"));
      meant = target == null ? Keywords.JSON.objectNode() : target;
    }
    return meant;
  }

  private static boolean isOfType(JsonNode schema, String type) {
    return Keywords.hasType(schema, type)
        || type.equals("integer") && Keywords.hasType(schema, "number")
        || schema.get("type").asText().equals(type);
  }

  private static boolean anyOfType(JsonNode values, String type) {
    for (JsonNode value : values) {
      if (StrictSchema.typeOf(value).equals(type)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isRequired(JsonNode schema, String name) {
    for (JsonNode required : schema.path("required")) {
      if (required.asText().equals(name)) {
        return true;
      }
    }
    return false;
  }

  private static List<String> names(ObjectNode object) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }
}
