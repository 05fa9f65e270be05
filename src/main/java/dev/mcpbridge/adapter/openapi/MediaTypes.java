package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Selects among the media types of a request or response. Stateless. */
final class MediaTypes {
  private MediaTypes() {}

  /** JSON, else a form, else multipart, else text, else the first; null without content. */
  static Map.Entry<String, JsonNode> preferred(JsonNode content) {
    return Stream.<Predicate<String>>of(
            MediaTypes::isJson,
            "application/x-www-form-urlencoded"::equals,
            type -> type.startsWith("multipart/"),
            type -> type.startsWith("text/"),
            type -> true)
        .flatMap(
            preferred ->
                content.properties().stream()
                    .filter(type -> preferred.test(withoutParameters(type.getKey()))))
        .findFirst()
        .map(type -> Map.entry(concrete(withoutParameters(type.getKey())), type.getValue()))
        .orElse(null);
  }

  /** The success response of an operation; a missing node if it declares none. */
  static JsonNode successResponse(JsonNode responses) {
    return Stream.of("200", "201", "202", "203", "2XX", "2xx", "default")
        .map(responses::path)
        .filter(response -> !response.isMissingNode())
        .findFirst()
        .orElse(responses.path("200"));
  }

  static JsonNode json(JsonNode content) {
    return content.properties().stream()
        .filter(type -> isJson(withoutParameters(type.getKey())))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse(content.path("application/json"));
  }

  static ObjectNode base64() {
    return JsonNodeFactory.instance
        .objectNode()
        .put("type", "string")
        .put("contentEncoding", "base64")
        .put("description", "The bytes, Base64-encoded");
  }

  static boolean isJson(String type) {
    return type.equals("application/json") || type.endsWith("+json") || type.equals("*/*");
  }

  private static String concrete(String type) {
    return type.contains("*") ? "application/json" : type;
  }

  /** The media type without parameters, in lower case. */
  static String withoutParameters(String type) {
    return type.split(";", 2)[0].strip().toLowerCase(java.util.Locale.ROOT);
  }
}
