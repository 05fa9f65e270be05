package dev.mcpbridge.dialect;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/** Follows references within one document (RFC 6901 in a URI fragment). Stateless. */
final class SchemaReferences {
  private SchemaReferences() {}

  /** The schema that a reference means; null where it leads out of the document or to none. */
  static JsonNode target(JsonNode root, JsonNode reference) {
    try {
      String pointer = pointer(reference);
      JsonNode target = pointer == null ? null : root.at(JsonPointer.compile(pointer));
      return target != null && (target.isObject() || target.isBoolean()) ? target : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** Leaves only references to what is a schema of the document. */
  static ObjectNode settled(ObjectNode root, ReductionReport reductionReport) {
    Set<String> places = new HashSet<>();
    SubschemaWalker.each(root, (place, schema) -> places.add(place));
    SubschemaWalker.each(
        root,
        (place, schema) -> {
          if (schema.has("$ref") && !places.contains(pointer(schema.get("$ref")))) {
            schema.remove("$ref");
            reductionReport.add(place + "/$ref", "a reference that leads to nothing here");
          }
        });
    return root;
  }

  /** Where references lead. */
  static Set<String> pointers(ObjectNode root) {
    Set<String> pointers = new HashSet<>();
    SubschemaWalker.each(
        root,
        (place, schema) -> {
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
