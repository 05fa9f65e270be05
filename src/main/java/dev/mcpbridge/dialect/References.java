package dev.mcpbridge.dialect;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/** Follows references within one document (RFC 6901 in a URI fragment). Stateless. */
final class References {
  private References() {}

  /** The schema that a reference means; null where it leads out of the document or to none. */
  static JsonNode target(JsonNode root, JsonNode reference) {
    String text = reference.asText("");
    if (!reference.isTextual() || !text.startsWith("#")) {
      return null;
    }
    try {
      String pointer =
          URLDecoder.decode(text.substring(1).replace("+", "%2B"), StandardCharsets.UTF_8);
      JsonNode target = root.at(JsonPointer.compile(pointer));
      return target.isObject() || target.isBoolean() ? target : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
