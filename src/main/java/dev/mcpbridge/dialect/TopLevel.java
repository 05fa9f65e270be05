package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
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
    Part whole = part(root, root, new HashSet<>());
    flat.set("properties", whole.properties);
    if (!whole.required.isEmpty()) {
      ArrayNode required = flat.putArray("required");
      whole.required.stream().filter(whole.properties::has).forEach(required::add);
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
    return flat;
  }

  /** Properties and what is required of them. */
  private record Part(ObjectNode properties, Set<String> required) {
    void and(Part other) {
      or(other);
      required.addAll(other.required);
    }

    void or(Part other) {
      other
          .properties
          .properties()
          .forEach(property -> offer(property.getKey(), property.getValue()));
    }

    private void offer(String name, JsonNode schema) {
      JsonNode known = properties.get(name);
      if (known == null) {
        properties.set(name, schema);
      } else if (!known.equals(schema)) {
        ArrayNode both = Keywords.JSON.arrayNode().add(known).add(schema);
        properties.set(name, Keywords.JSON.objectNode().set("anyOf", both));
      }
    }
  }

  private Part part(JsonNode schema, JsonNode root, Set<String> followed) {
    Part part = new Part(Keywords.JSON.objectNode(), new LinkedHashSet<>());
    if (schema.path("properties") instanceof ObjectNode own) {
      part.properties.setAll(own);
    }
    schema.path("required").forEach(name -> part.required.add(name.asText()));
    JsonNode reference = schema.path("$ref");
    if (reference.isTextual() && followed.add(reference.textValue())) {
      part.and(part(References.target(root, reference), root, new HashSet<>(followed)));
    }
    schema.path("allOf").forEach(each -> part.and(part(each, root, new HashSet<>(followed))));
    for (String union : List.of("anyOf", "oneOf")) {
      either(part, schema.path(union), root, followed);
    }
    return part;
  }

  private void either(Part part, JsonNode branches, JsonNode root, Set<String> followed) {
    List<Set<String>> requirements = new ArrayList<>();
    for (JsonNode branch : branches) {
      Part one = part(branch, root, new HashSet<>(followed));
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
