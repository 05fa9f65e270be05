package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
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
  private static final List<String> NOT_ALLOWED =
      List.of(
          "allOf",
          "anyOf",
          "oneOf",
          "not",
          "if",
          "then",
          "else",
          "enum",
          "const",
          "dependentSchemas",
          "$ref");

  private final ReductionReport reductionReport;

  TopLevelFlattener(ReductionReport reductionReport) {
    this.reductionReport = reductionReport;
  }

  ObjectNode flatten(ObjectNode root) {
    ObjectNode flat = Json.object().put("type", "object");
    PropertySet whole = new Walk(root, new HashMap<>()).collect(root, Set.of());
    ObjectNode properties = flat.putObject("properties");
    whole.offers.forEach((name, schemas) -> properties.set(name, Schemas.anyOf(schemas)));
    if (!whole.required.isEmpty()) {
      whole.required.retainAll(whole.offers.keySet());
      whole.required.forEach(flat.putArray("required")::add);
    }
    root.forEachEntry(
        (name, value) -> {
          if (NOT_ALLOWED.contains(name)) {
            reductionReport.add("/" + name, "not allowed at the top level");
          } else {
            flat.putIfAbsent(name, value);
          }
        });
    return Schemas.removeDangling(flat, reductionReport);
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

    PropertySet collect(JsonNode schema, Set<String> followed) {
      PropertySet collected = new PropertySet(new LinkedHashMap<>(), Schemas.required(schema));
      schema
          .path("properties")
          .forEachEntry((name, property) -> collected.offers(name).add(property));
      if (schema.has("$ref")) {
        collected.addAll(target(schema.get("$ref"), followed));
      }
      schema.path("allOf").forEach(part -> collected.addAll(collect(part, followed)));
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
        targets.put(name, collect(Schemas.target(root, reference), further));
      }
      return targets.get(name);
    }

    private void addUnion(PropertySet collected, JsonNode branches, Set<String> followed) {
      Set<String> common = null;
      for (JsonNode branch : branches) {
        PropertySet alternative = collect(branch, followed);
        collected.addOptional(alternative);
        if (common == null) {
          common = alternative.required;
        }
        common.retainAll(alternative.required);
      }
      if (common != null) {
        collected.required.addAll(common);
      }
    }
  }
}
