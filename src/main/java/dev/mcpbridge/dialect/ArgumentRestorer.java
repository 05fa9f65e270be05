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
 * Takes back what the dialects ask of a model: null for a property that may be left out, and JSON
 * text for a value that is no text. Only where the tool's own schema does not admit what was given;
 * anything else stays as it is. Stateless.
 */
public final class ArgumentRestorer {
  private static final Set<String> LITERALS = Set.of("true", "false", "null");
  private static final int MAX_DEPTH = 64;

  private final JsonNode root;
  private boolean changed;

  private ArgumentRestorer(JsonNode root) {
    this.root = root;
  }

  /** What the tool is to get; the same object where nothing had to be changed. */
  public static JsonNode meant(JsonNode given, JsonNode schema) {
    if (!isCandidate(given)) {
      return given;
    }
    ArgumentRestorer arguments = new ArgumentRestorer(schema);
    JsonNode copy = given.deepCopy();
    arguments.correct(copy, schema, 0);
    return arguments.changed ? copy : given;
  }

  /** Most arguments hold no null, and no text that could be anything else. */
  private static boolean isCandidate(JsonNode value) {
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
      List<JsonNode> schemas = parts(schema);
      for (String name : names(object)) {
        property(object, name, schemas, depth);
      }
    } else if (value instanceof ArrayNode array) {
      JsonNode items = any(parts(schema).stream().map(part -> part.path("items")));
      for (int i = 0; i < array.size(); i++) {
        JsonNode item = read(array.get(i), items);
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
    JsonNode own = any(declaring.stream().map(schema -> schema.get("properties").get(name)));
    JsonNode given = object.get(name);
    boolean isRequired = declaring.stream().allMatch(schema -> isRequired(schema, name));
    if (given.isNull() && !isRequired && !admits(own, "null")) {
      object.remove(name);
      changed = true;
      return;
    }
    JsonNode meant = read(given, own);
    object.set(name, meant);
    correct(meant, own, depth + 1);
  }

  /** A schema, and all others that may apply to the same value. */
  private List<JsonNode> parts(JsonNode schema) {
    List<JsonNode> parts = new ArrayList<>();
    collect(schema, Collections.newSetFromMap(new IdentityHashMap<>()), parts);
    return parts;
  }

  private void collect(JsonNode schema, Set<JsonNode> seen, List<JsonNode> inOrder) {
    if (schema == null || !seen.add(schema)) {
      return;
    }
    inOrder.add(schema);
    if (schema.has("$ref")) {
      collect(SchemaReferences.target(root, schema.get("$ref")), seen, inOrder);
    }
    for (String branches : List.of("allOf", "anyOf", "oneOf")) {
      schema.path(branches).forEach(branch -> collect(branch, seen, inOrder));
    }
  }

  private static JsonNode any(Stream<JsonNode> schemas) {
    List<JsonNode> known = schemas.filter(schema -> !schema.isMissingNode()).toList();
    return known.size() == 1
        ? known.get(0)
        : SchemaNormalizer.JSON
            .objectNode()
            .set("anyOf", SchemaNormalizer.JSON.arrayNode().addAll(known));
  }

  private JsonNode read(JsonNode given, JsonNode schema) {
    if (!given.isTextual() || admits(schema, "string")) {
      return given;
    }
    try {
      JsonNode read = Json.tree(given.textValue());
      boolean isOther = !read.isMissingNode() && !read.isTextual();
      if (isOther && admits(schema, StrictSchema.typeOf(read))) {
        changed = true;
        return read;
      }
    } catch (JsonProcessingException e) {
      // a text after all: the tool's own schema says what is wrong with it
    }
    return given;
  }

  private boolean admits(JsonNode schema, String type) {
    return admits(schema, type, new IdentityHashMap<>());
  }

  /** Each schema is asked once; one that leads back to itself admits nothing by that. */
  private boolean admits(JsonNode schema, String type, Map<JsonNode, Boolean> known) {
    if (schema.isBoolean()) {
      return schema.booleanValue();
    }
    Boolean before = known.putIfAbsent(schema, false);
    if (before == null) {
      before = isAdmitting(schema, type, known);
      known.put(schema, before);
    }
    return before;
  }

  private boolean isAdmitting(JsonNode schema, String type, Map<JsonNode, Boolean> known) {
    JsonNode target = SchemaReferences.target(root, schema.path("$ref"));
    if (target != null && !admits(target, type, known)) {
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
      if (!admits(part, type, known)) {
        return false;
      }
    }
    return branchAdmits(schema.path("anyOf"), type, known)
        && branchAdmits(schema.path("oneOf"), type, known);
  }

  private boolean branchAdmits(JsonNode branches, String type, Map<JsonNode, Boolean> known) {
    boolean any = branches.isEmpty();
    for (JsonNode branch : branches) {
      any |= admits(branch, type, known);
    }
    return any;
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
