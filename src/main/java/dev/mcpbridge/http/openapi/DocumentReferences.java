package dev.mcpbridge.http.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Rewrites the references of a schema that is embedded in another document. */
final class DocumentReferences {
  /** Keywords whose members are schemas by arbitrary names. */
  private static final Set<String> SCHEMA_MAPS =
      Set.of("properties", "patternProperties", "$defs", "definitions", "dependentSchemas");

  /** Keywords whose content is a value, even if it looks like a schema. */
  private static final Set<String> VALUE_KEYWORDS =
      Set.of("const", "enum", "default", "example", "examples");

  private final String base;
  private final Map<String, String> moved = new LinkedHashMap<>();

  /**
   * @param base reference to the place of the schema in the document
   */
  DocumentReferences(String base) {
    this.base = base;
  }

  /** Records that a definition of the schema was moved. */
  void moved(String container, String name, String target) {
    moved.put(container + name, target);
  }

  /** The new references of all definitions that were moved. */
  Collection<String> moved() {
    return moved.values();
  }

  /** Rewrites every reference in a schema to the current place of its target. */
  void rebase(JsonNode schema) {
    if (schema instanceof ObjectNode object && object.path("$ref").isTextual()) {
      object.put("$ref", target(object.get("$ref").textValue()));
    }
    if (schema.isArray()) {
      schema.forEach(this::rebase);
    }
    schema
        .properties()
        .forEach(
            member -> {
              if (SCHEMA_MAPS.contains(member.getKey())) {
                member.getValue().forEach(this::rebase);
              } else if (!VALUE_KEYWORDS.contains(member.getKey())) {
                rebase(member.getValue());
              }
            });
  }

  private String target(String reference) {
    String[] steps = reference.split("/", 4);
    if (steps.length > 2) {
      String target = moved.get(steps[0] + "/" + steps[1] + "/" + decoded(steps[2]));
      if (target != null) {
        return steps.length == 3 ? target : target + "/" + steps[3];
      }
    }
    return base + reference.substring(1);
  }

  /** Decodes a reference token (RFC 6901 sections 4 and 6). */
  private static String decoded(String step) {
    try {
      return URLDecoder.decode(step.replace("+", "%2B"), StandardCharsets.UTF_8)
          .replace("~1", "/")
          .replace("~0", "~");
    } catch (IllegalArgumentException e) {
      return step;
    }
  }
}
