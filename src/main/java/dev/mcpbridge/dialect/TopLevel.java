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
 * Every provider wants an object with properties at the top, and no union. What branches require
 * together stays required; what they have is offered.
 */
final class TopLevel {
  private static final List<String> BRANCHES = List.of("allOf", "anyOf", "oneOf");
  private static final List<String> CONDITIONS =
      List.of("not", "if", "then", "else", "enum", "const", "dependentSchemas", "$ref");

  private final Losses losses;

  TopLevel(Losses losses) {
    this.losses = losses;
  }

  ObjectNode object(ObjectNode root) {
    ObjectNode flat = Keywords.JSON.objectNode();
    flat.put("type", "object");
    Part whole = new Walk(root).part(root, Set.of());
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
                losses.add("/" + name, "not at the top of a schema");
              } else if (!flat.has(name)) {
                flat.set(name, keyword.getValue());
              }
            });
    return References.settled(flat, losses);
  }

  private static JsonNode anyOf(Set<JsonNode> schemas) {
    return schemas.size() == 1
        ? schemas.iterator().next()
        : Keywords.JSON.objectNode().set("anyOf", Keywords.JSON.arrayNode().addAll(schemas));
  }

  /** What schemas are offered for each property, and what is required. */
  private record Part(Map<String, Set<JsonNode>> offers, Set<String> required) {
    void and(Part other) {
      or(other);
      required.addAll(other.required);
    }

    void or(Part other) {
      other.offers.forEach((name, schemas) -> offers(name).addAll(schemas));
    }

    Set<JsonNode> offers(String name) {
      return offers.computeIfAbsent(name, n -> new LinkedHashSet<>());
    }
  }

  /** Each reference is followed once: what else leads to it shares the part. */
  private record Walk(JsonNode root, Map<String, Part> targets) {
    Walk(JsonNode root) {
      this(root, new HashMap<>());
    }

    Part part(JsonNode schema, Set<String> followed) {
      Part part = new Part(new LinkedHashMap<>(), new LinkedHashSet<>());
      schema
          .path("properties")
          .properties()
          .forEach(property -> part.offers(property.getKey()).add(property.getValue()));
      schema.path("required").forEach(name -> part.required.add(name.asText()));
      if (schema.has("$ref")) {
        part.and(target(schema.get("$ref"), followed));
      }
      schema.path("allOf").forEach(each -> part.and(part(each, followed)));
      for (String union : List.of("anyOf", "oneOf")) {
        either(part, schema.path(union), followed);
      }
      return part;
    }

    /** One that leads back to itself adds nothing. */
    private Part target(JsonNode reference, Set<String> followed) {
      String name = reference.textValue();
      if (followed.contains(name)) {
        return new Part(Map.of(), Set.of());
      }
      if (!targets.containsKey(name)) {
        Set<String> further = new HashSet<>(followed);
        further.add(name);
        targets.put(name, part(References.target(root, reference), further));
      }
      return targets.get(name);
    }

    private void either(Part part, JsonNode branches, Set<String> followed) {
      List<Set<String>> requirements = new ArrayList<>();
      for (JsonNode branch : branches) {
        Part one = part(branch, followed);
        part.or(one);
        requirements.add(one.required);
      }
      if (!requirements.isEmpty()) {
        Set<String> common = new LinkedHashSet<>(requirements.get(0));
        requirements.forEach(common::retainAll);
        part.required.addAll(common);
      }
    }
  }
}
