package dev.mcpbridge.http.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The references of one schema that is put into another document. */
final class DocumentReferences {
  /** Their members are schemas by names that are anybody's. */
  private static final Set<String> BY_NAME =
      Set.of("properties", "patternProperties", "$defs", "definitions", "dependentSchemas");

  /** What is in them is no schema, whatever it looks like. */
  private static final Set<String> VALUES =
      Set.of("const", "enum", "default", "example", "examples");

  private final String base;
  private final Map<String, String> moved = new LinkedHashMap<>();

  /**
   * @param base where the schema stands, as a reference
   */
  DocumentReferences(String base) {
    this.base = base;
  }

  /** A definition of the schema stands somewhere else. */
  void moved(String place, String name, String target) {
    moved.put(place + name, target);
  }

  /** Where all that was moved is now. */
  Collection<String> moved() {
    return moved.values();
  }

  /** Lets every reference in a schema lead to where its target stands now. */
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
              if (BY_NAME.contains(member.getKey())) {
                member.getValue().forEach(this::rebase);
              } else if (!VALUES.contains(member.getKey())) {
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

  /** RFC 6901 sections 4 and 6. */
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
