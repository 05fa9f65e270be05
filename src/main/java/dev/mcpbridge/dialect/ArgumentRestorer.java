package dev.mcpbridge.dialect;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Reverts what the dialects require of a model: null for an optional property, and JSON text for a
 * value that is not a string. Applies only where the tool's own schema does not accept the value as
 * given; everything else stays unchanged.
 */
public final class ArgumentRestorer {
  private static final Set<String> LITERALS = Set.of("true", "false", "null");
  private static final int MAX_DEPTH = 64;

  private final JsonNode root;
  private boolean changed;

  private ArgumentRestorer(JsonNode root) {
    this.root = root;
  }

  /** Returns arguments that are candidates for their tool; the same object if nothing changed. */
  public static JsonNode restore(JsonNode given, JsonNode schema) {
    ArgumentRestorer arguments = new ArgumentRestorer(schema);
    JsonNode copy = given.deepCopy();
    arguments.correct(copy, schema, 0);
    return arguments.changed ? copy : given;
  }

  /** Fast check: most arguments contain neither null nor a string that could be JSON text. */
  public static boolean isCandidate(JsonNode value) {
    if (value.isContainerNode()) {
      for (JsonNode inner : value) {
        if (isCandidate(inner)) {
          return true;
        }
      }
      return false;
    }
    return value.isNull() || value.isTextual() && looksLikeJson(value.textValue().strip());
  }

  private static boolean looksLikeJson(String text) {
    return !text.isEmpty()
        && ("{[-0123456789".indexOf(text.charAt(0)) >= 0 || LITERALS.contains(text));
  }

  private void correct(JsonNode value, JsonNode schema, int depth) {
    if (depth > MAX_DEPTH) {
      return;
    }
    if (value instanceof ObjectNode object) {
      List<JsonNode> schemas = applicableSchemas(schema);
      for (String name : names(object)) {
        property(object, name, schemas, depth);
      }
    } else if (value instanceof ArrayNode array) {
      JsonNode items = anyOf(applicableSchemas(schema).stream().map(part -> part.path("items")));
      for (int i = 0; i < array.size(); i++) {
        JsonNode item = parsed(array.get(i), items);
        array.set(i, item);
        correct(item, items, depth + 1);
      }
    }
  }

  private void property(ObjectNode object, String name, List<JsonNode> schemas, int depth) {
    List<JsonNode> declaring =
        schemas.stream().filter(schema -> schema.path("properties").has(name)).toList();
    if (declaring.isEmpty()) {
      return;
    }
    JsonNode own = anyOf(declaring.stream().map(schema -> schema.get("properties").get(name)));
    JsonNode given = object.get(name);
    boolean isRequired = declaring.stream().allMatch(schema -> isRequired(schema, name));
    if (given.isNull() && !isRequired && !admits(own, "null")) {
      object.remove(name);
      changed = true;
      return;
    }
    JsonNode restored = parsed(given, own);
    object.set(name, restored);
    correct(restored, own, depth + 1);
  }

  /** A schema and all schemas that may apply to the same value. */
  private List<JsonNode> applicableSchemas(JsonNode schema) {
    List<JsonNode> parts = new ArrayList<>();
    collect(schema, Collections.newSetFromMap(new IdentityHashMap<>()), parts);
    return parts;
  }

  private void collect(JsonNode schema, Set<JsonNode> seen, List<JsonNode> result) {
    if (schema == null || !seen.add(schema)) {
      return;
    }
    result.add(schema);
    if (schema.has("$ref")) {
      collect(SchemaReferences.target(root, schema.get("$ref")), seen, result);
    }
    for (String branches : List.of("allOf", "anyOf", "oneOf")) {
      schema.path(branches).forEach(branch -> collect(branch, seen, result));
    }
  }

  private static JsonNode anyOf(Stream<JsonNode> schemas) {
    List<JsonNode> present = schemas.filter(schema -> !schema.isMissingNode()).toList();
    return present.size() == 1
        ? present.get(0)
        : SchemaNormalizer.JSON
            .objectNode()
            .set("anyOf", SchemaNormalizer.JSON.arrayNode().addAll(present));
  }

  private JsonNode parsed(JsonNode given, JsonNode schema) {
    if (!given.isTextual() || admits(schema, "string")) {
      return given;
    }
    try {
      JsonNode value = Json.tree(given.textValue());
      boolean isOtherType = !value.isMissingNode() && !value.isTextual();
      if (isOtherType && admits(schema, StrictSchema.typeOf(value))) {
        changed = true;
        return value;
      }
    } catch (JsonProcessingException e) {
      // not JSON: validation against the tool's schema reports the error
    }
    return given;
  }

  private boolean admits(JsonNode schema, String type) {
    return admits(schema, type, new IdentityHashMap<>());
  }

  /** Evaluates each schema once; a recursive reference to a schema accepts nothing. */
  private boolean admits(JsonNode schema, String type, Map<JsonNode, Boolean> results) {
    if (schema.isBoolean()) {
      return schema.booleanValue();
    }
    Boolean cached = results.putIfAbsent(schema, false);
    if (cached == null) {
      cached = isAdmitting(schema, type, results);
      results.put(schema, cached);
    }
    return cached;
  }

  private boolean isAdmitting(JsonNode schema, String type, Map<JsonNode, Boolean> results) {
    JsonNode target = SchemaReferences.target(root, schema.path("$ref"));
    if (target != null && !admits(target, type, results)) {
      return false;
    }
    if (schema.has("type") && !isOfType(schema, type)) {
      return false;
    }
    if (schema.has("enum") && !anyOfType(schema.get("enum"), type)
        || schema.has("const") && !StrictSchema.typeOf(schema.get("const")).equals(type)) {
      return false;
    }
    for (JsonNode part : schema.path("allOf")) {
      if (!admits(part, type, results)) {
        return false;
      }
    }
    return branchAdmits(schema.path("anyOf"), type, results)
        && branchAdmits(schema.path("oneOf"), type, results);
  }

  private boolean branchAdmits(JsonNode branches, String type, Map<JsonNode, Boolean> results) {
    boolean isAdmitted = branches.isEmpty();
    for (JsonNode branch : branches) {
      isAdmitted |= admits(branch, type, results);
    }
    return isAdmitted;
  }

  private static boolean isOfType(JsonNode schema, String type) {
    return SchemaNormalizer.hasType(schema, type)
        || type.equals("integer") && SchemaNormalizer.hasType(schema, "number")
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
