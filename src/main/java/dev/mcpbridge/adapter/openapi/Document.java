package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/**
 * An OpenAPI document of 3.x. References are followed within it; one that leads out of it is to
 * nothing, since nobody is asked for more (JSON Schema Core section 9.2.3).
 */
record Document(ObjectNode root) {
  private static final int MAX_HOPS = 32;

  /** Of any version that is understood, as one of 3.x. */
  static Document of(byte[] text) {
    ObjectNode root = DocumentReader.read(text);
    String version = root.path("openapi").asText("");
    if (root.path("swagger").asText("").equals("2.0")) {
      return new Document(new Swagger2(root).converted());
    }
    if (!version.startsWith("3.")) {
      throw DocumentReader.unusable(
          version.isEmpty()
              ? "it has no member openapi or swagger"
              : "OpenAPI " + version + " is not known here");
    }
    return new Document(root);
  }

  /** Whether nullable and boolean exclusive bounds may stand in schemas. */
  boolean isBefore31() {
    return root.path("openapi").asText().startsWith("3.0");
  }

  /** What a node means, behind its references. */
  JsonNode follow(JsonNode node) {
    JsonNode meant = node;
    for (int i = 0; i < MAX_HOPS && meant.path("$ref").isTextual(); i++) {
      meant = target(meant.get("$ref").textValue());
    }
    return meant.path("$ref").isTextual() ? MissingNode.getInstance() : meant;
  }

  JsonNode target(String reference) {
    if (!reference.startsWith("#/")) {
      return MissingNode.getInstance();
    }
    try {
      String pointer =
          URLDecoder.decode(reference.substring(1).replace("+", "%2B"), StandardCharsets.UTF_8);
      return root.at(JsonPointer.compile(pointer));
    } catch (IllegalArgumentException e) {
      return MissingNode.getInstance();
    }
  }
}
