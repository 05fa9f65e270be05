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
    return value.isContainerNode()
        ? value.valueStream().anyMatch(ArgumentRestorer::isCandidate)
        : value.isNull() || value.isTextual() && looksLikeJson(value.textValue().strip());
  }

  private static boolean looksLikeJson(String text) {
    return !text.isEmpty()
        && ("{[-0123456789".indexOf(text.charAt(0)) >= 0 || LITERALS.contains(text));
  }

  private void correct(JsonNode value, JsonNode schema, int depth) {
    if (depth > MAX_DEPTH || !value.isContainerNode()) {
      return;
    }
    List<JsonNode> schemas = applicableSchemas(schema);
    if (value instanceof ObjectNode object) {
      for (Map.Entry<String, JsonNode> property : List.copyOf(object.properties())) {
        property(object, property.getKey(), schemas, depth);
      }
    } else if (value instanceof ArrayNode array) {
      JsonNode items = anyOf(schemas.stream().map(part -> part.path("items")));
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
    boolean isRequired =
        declaring.stream().allMatch(schema -> Schemas.required(schema).contains(name));
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
    collect(Schemas.target(root, schema.path("$ref")), seen, result);
    for (String branches : List.of("allOf", "anyOf", "oneOf")) {
      schema.path(branches).forEach(branch -> collect(branch, seen, result));
    }
  }

  private static JsonNode anyOf(Stream<JsonNode> schemas) {
    return Schemas.anyOf(schemas.filter(schema -> !schema.isMissingNode()).toList());
  }

  private JsonNode parsed(JsonNode given, JsonNode schema) {
    if (!given.isTextual() || admits(schema, "string")) {
      return given;
    }
    try {
      JsonNode value = Json.tree(given.textValue());
      boolean isOtherType = !value.isMissingNode() && !value.isTextual();
      if (isOtherType && admits(schema, Schemas.typeOf(value))) {
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
    JsonNode target = Schemas.target(root, schema.path("$ref"));
    List<String> types = Schemas.types(schema);
    boolean isOfType =
        !schema.has("type")
            || types.contains(type)
            || type.equals("integer") && types.contains("number");
    return (target == null || admits(target, type, results))
        && isOfType
        && (!schema.has("enum") || hasValueOf(type, schema.get("enum").valueStream()))
        && (!schema.has("const") || hasValueOf(type, Stream.of(schema.get("const"))))
        && schema.path("allOf").valueStream().allMatch(part -> admits(part, type, results))
        && branchAdmits(schema.path("anyOf"), type, results)
        && branchAdmits(schema.path("oneOf"), type, results);
  }

  private static boolean hasValueOf(String type, Stream<JsonNode> values) {
    return values.anyMatch(value -> Schemas.typeOf(value).equals(type));
  }

  private boolean branchAdmits(JsonNode branches, String type, Map<JsonNode, Boolean> results) {
    return branches.isEmpty()
        || branches.valueStream().anyMatch(branch -> admits(branch, type, results));
  }
}
