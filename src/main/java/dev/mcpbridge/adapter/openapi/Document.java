package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Schemas;

/**
 * An OpenAPI 3.x document. References are resolved within the document only; a reference to another
 * document resolves to a missing node, as nothing is fetched (JSON Schema Core section 9.2.3).
 */
record Document(ObjectNode root) {
  private static final int MAX_HOPS = 32;

  /** Reads a document of any supported version; converts Swagger 2.0 to 3.x. */
  static Document of(byte[] text) {
    ObjectNode root = DocumentReader.read(text);
    String version = root.path("openapi").asText("");
    if (root.path("swagger").asText("").equals("2.0")) {
      return new Document(new Swagger2(root).converted());
    }
    if (!version.startsWith("3.")) {
      throw DocumentReader.unusable(
          version.isEmpty()
              ? "it has no 'openapi' or 'swagger' member"
              : "OpenAPI version " + version + " is not supported");
    }
    return new Document(root);
  }

  /** Whether schemas may use {@code nullable} and boolean exclusive bounds. */
  boolean isBefore31() {
    return root.path("openapi").asText().startsWith("3.0");
  }

  /** Resolves the references of a node; returns a missing node for one that cannot be resolved. */
  JsonNode follow(JsonNode node) {
    JsonNode resolved = node;
    for (int i = 0; i < MAX_HOPS && resolved.path("$ref").isTextual(); i++) {
      resolved = target(resolved.get("$ref"));
    }
    return resolved.path("$ref").isTextual() ? MissingNode.getInstance() : resolved;
  }

  /** The schema, or other object, at a reference; a missing node if it cannot be resolved. */
  JsonNode target(JsonNode reference) {
    JsonNode target =
        reference.asText("").startsWith("#/") ? Schemas.target(root, reference) : null;
    return target == null ? MissingNode.getInstance() : target;
  }
}
