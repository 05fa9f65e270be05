package dev.mcpbridge.dialect;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/** Resolves references within a document (RFC 6901 in a URI fragment). Stateless. */
final class SchemaReferences {
  private SchemaReferences() {}

  /** The schema at a reference; null if it is outside the document or not a schema. */
  static JsonNode target(JsonNode root, JsonNode reference) {
    try {
      String pointer = pointer(reference);
      JsonNode target = pointer == null ? null : root.at(JsonPointer.compile(pointer));
      return target != null && (target.isObject() || target.isBoolean()) ? target : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** Removes references that do not point to a schema of the document. */
  static ObjectNode removeDangling(ObjectNode root, ReductionReport reductionReport) {
    Set<String> locations = new HashSet<>();
    SubschemaWalker.each(root, (location, schema) -> locations.add(location));
    SubschemaWalker.each(
        root,
        (location, schema) -> {
          if (schema.has("$ref") && !locations.contains(pointer(schema.get("$ref")))) {
            schema.remove("$ref");
            reductionReport.add(location + "/$ref", "an unresolvable reference");
          }
        });
    return root;
  }

  /** The JSON Pointers of all references. */
  static Set<String> pointers(ObjectNode root) {
    Set<String> pointers = new HashSet<>();
    SubschemaWalker.each(
        root,
        (location, schema) -> {
          if (schema.has("$ref")) {
            pointers.add(pointer(schema.get("$ref")));
          }
        });
    return pointers;
  }

  private static String pointer(JsonNode reference) {
    String text = reference.asText("");
    return reference.isTextual() && text.startsWith("#")
        ? URLDecoder.decode(text.substring(1).replace("+", "%2B"), StandardCharsets.UTF_8)
        : null;
  }
}
