package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Flattens the top level of a schema to an object with properties and without unions, as every
 * provider requires. It has the properties of all branches and requires those that every branch
 * requires.
 */
final class TopLevelFlattener {
  private static final List<String> BRANCHES = List.of("allOf", "anyOf", "oneOf");
  private static final List<String> CONDITIONS =
      List.of("not", "if", "then", "else", "enum", "const", "dependentSchemas", "$ref");

  private final ReductionReport reductionReport;

  TopLevelFlattener(ReductionReport reductionReport) {
    this.reductionReport = reductionReport;
  }

  ObjectNode flatten(ObjectNode root) {
    ObjectNode flat = SchemaNormalizer.JSON.objectNode();
    flat.put("type", "object");
    PropertySet whole = new Walk(root).collect(root, Set.of());
    ObjectNode properties = flat.putObject("properties");
    whole.offers.forEach((name, schemas) -> properties.set(name, anyOf(schemas)));
    if (!whole.required.isEmpty()) {
      ArrayNode required = flat.putArray("required");
      whole.required.stream().filter(properties::has).forEach(required::add);
    }
    root.properties()
        .forEach(
            keyword -> {
              String name = keyword.getKey();
              if (BRANCHES.contains(name) || CONDITIONS.contains(name)) {
                reductionReport.add("/" + name, "not allowed at the top level");
              } else if (!flat.has(name)) {
                flat.set(name, keyword.getValue());
              }
            });
    return SchemaReferences.removeDangling(flat, reductionReport);
  }

  private static JsonNode anyOf(Set<JsonNode> schemas) {
    return schemas.size() == 1
        ? schemas.iterator().next()
        : SchemaNormalizer.JSON
            .objectNode()
            .set("anyOf", SchemaNormalizer.JSON.arrayNode().addAll(schemas));
  }

  /** The alternative schemas of each property, and the required properties. */
  private record PropertySet(Map<String, Set<JsonNode>> offers, Set<String> required) {
    void addAll(PropertySet other) {
      addOptional(other);
      required.addAll(other.required);
    }

    void addOptional(PropertySet other) {
      other.offers.forEach((name, schemas) -> offers(name).addAll(schemas));
    }

    Set<JsonNode> offers(String name) {
      return offers.computeIfAbsent(name, n -> new LinkedHashSet<>());
    }
  }

  /** Collects properties; the result for a reference is computed once and shared. */
  private record Walk(JsonNode root, Map<String, PropertySet> targets) {
    Walk(JsonNode root) {
      this(root, new HashMap<>());
    }

    PropertySet collect(JsonNode schema, Set<String> followed) {
      PropertySet collected = new PropertySet(new LinkedHashMap<>(), new LinkedHashSet<>());
      schema
          .path("properties")
          .properties()
          .forEach(property -> collected.offers(property.getKey()).add(property.getValue()));
      schema.path("required").forEach(name -> collected.required.add(name.asText()));
      if (schema.has("$ref")) {
        collected.addAll(target(schema.get("$ref"), followed));
      }
      schema.path("allOf").forEach(each -> collected.addAll(collect(each, followed)));
      for (String union : List.of("anyOf", "oneOf")) {
        addUnion(collected, schema.path(union), followed);
      }
      return collected;
    }

    /** A recursive reference adds nothing. */
    private PropertySet target(JsonNode reference, Set<String> followed) {
      String name = reference.textValue();
      if (followed.contains(name)) {
        return new PropertySet(Map.of(), Set.of());
      }
      if (!targets.containsKey(name)) {
        Set<String> further = new HashSet<>(followed);
        further.add(name);
        targets.put(name, collect(SchemaReferences.target(root, reference), further));
      }
      return targets.get(name);
    }

    private void addUnion(PropertySet collected, JsonNode branches, Set<String> followed) {
      List<Set<String>> requirements = new ArrayList<>();
      for (JsonNode branch : branches) {
        PropertySet alternative = collect(branch, followed);
        collected.addOptional(alternative);
        requirements.add(alternative.required);
      }
      if (!requirements.isEmpty()) {
        Set<String> common = new LinkedHashSet<>(requirements.get(0));
        requirements.forEach(common::retainAll);
        collected.required.addAll(common);
      }
    }
  }
}
