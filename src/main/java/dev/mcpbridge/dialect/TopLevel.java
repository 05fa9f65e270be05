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

  private final ReductionReport reductionReport;

  TopLevel(ReductionReport reductionReport) {
    this.reductionReport = reductionReport;
  }

  ObjectNode object(ObjectNode root) {
    ObjectNode flat = SchemaNormalizer.JSON.objectNode();
    flat.put("type", "object");
    OfferedProperties whole = new Walk(root).part(root, Set.of());
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
                reductionReport.add("/" + name, "not at the top of a schema");
              } else if (!flat.has(name)) {
                flat.set(name, keyword.getValue());
              }
            });
    return SchemaReferences.settled(flat, reductionReport);
  }

  private static JsonNode anyOf(Set<JsonNode> schemas) {
    return schemas.size() == 1
        ? schemas.iterator().next()
        : SchemaNormalizer.JSON
            .objectNode()
            .set("anyOf", SchemaNormalizer.JSON.arrayNode().addAll(schemas));
  }

  /** What schemas are offered for each property, and what is required. */
  private record OfferedProperties(Map<String, Set<JsonNode>> offers, Set<String> required) {
    void and(OfferedProperties other) {
      or(other);
      required.addAll(other.required);
    }

    void or(OfferedProperties other) {
      other.offers.forEach((name, schemas) -> offers(name).addAll(schemas));
    }

    Set<JsonNode> offers(String name) {
      return offers.computeIfAbsent(name, n -> new LinkedHashSet<>());
    }
  }

  /** Each reference is followed once: what else leads to it shares the part. */
  private record Walk(JsonNode root, Map<String, OfferedProperties> targets) {
    Walk(JsonNode root) {
      this(root, new HashMap<>());
    }

    OfferedProperties part(JsonNode schema, Set<String> followed) {
      OfferedProperties offeredProperties =
          new OfferedProperties(new LinkedHashMap<>(), new LinkedHashSet<>());
      schema
          .path("properties")
          .properties()
          .forEach(
              property -> offeredProperties.offers(property.getKey()).add(property.getValue()));
      schema.path("required").forEach(name -> offeredProperties.required.add(name.asText()));
      if (schema.has("$ref")) {
        offeredProperties.and(target(schema.get("$ref"), followed));
      }
      schema.path("allOf").forEach(each -> offeredProperties.and(part(each, followed)));
      for (String union : List.of("anyOf", "oneOf")) {
        either(offeredProperties, schema.path(union), followed);
      }
      return offeredProperties;
    }

    /** One that leads back to itself adds nothing. */
    private OfferedProperties target(JsonNode reference, Set<String> followed) {
      String name = reference.textValue();
      if (followed.contains(name)) {
        return new OfferedProperties(Map.of(), Set.of());
      }
      if (!targets.containsKey(name)) {
        Set<String> further = new HashSet<>(followed);
        further.add(name);
        targets.put(name, part(SchemaReferences.target(root, reference), further));
      }
      return targets.get(name);
    }

    private void either(
        OfferedProperties offeredProperties, JsonNode branches, Set<String> followed) {
      List<Set<String>> requirements = new ArrayList<>();
      for (JsonNode branch : branches) {
        OfferedProperties one = part(branch, followed);
        offeredProperties.or(one);
        requirements.add(one.required);
      }
      if (!requirements.isEmpty()) {
        Set<String> common = new LinkedHashSet<>(requirements.get(0));
        requirements.forEach(common::retainAll);
        offeredProperties.required.addAll(common);
      }
    }
  }
}
