package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.buffer.Buffer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A request body, encoded for its media type.
 *
 * @param type the value of Content-Type
 */
record ApiBody(String type, Buffer bytes) {
  private static final String JSON = "application/json";
  private static final String BYTES = "application/octet-stream";

  /**
   * Encodes a body; JSON is sent byte for byte.
   *
   * @throws dev.mcpbridge.error.BridgeException INVALID_ARGUMENTS if a value cannot be encoded
   */
  static ApiBody of(Operation.Body body, JsonSlice value) {
    if (body.isJson()) {
      return new ApiBody(body.type(), Buffer.buffer(value.toBytes()));
    }
    if (body.isForm()) {
      return new ApiBody(body.type(), Buffer.buffer(form(body, value)));
    }
    if (body.isMultipart()) {
      return multipart(body, value);
    }
    String text = JsonObjects.string(value);
    if (text == null) {
      throw ArgumentErrors.of("the body must be a string");
    }
    return new ApiBody(body.type(), body.isText() ? Buffer.buffer(text) : decoded("body", text));
  }

  private static Map<String, JsonSlice> members(JsonSlice value) {
    if (!value.isObject()) {
      throw ArgumentErrors.of("the body must be an object");
    }
    return JsonObjects.members(value);
  }

  private static String form(Operation.Body body, JsonSlice value) {
    return members(value).entrySet().stream()
        .flatMap(field -> pairs(body.encoding(field.getKey()), field.getKey(), field.getValue()))
        .map(pair -> encoded(pair.name()) + "=" + encoded(pair.joined()))
        .collect(Collectors.joining("&"));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** Applies the declared style; without one, an object is JSON (OpenAPI 3.1.1 section 4.8.15). */
  private static Stream<StyledParameters.Pair> pairs(
      JsonNode encoding, String name, JsonSlice value) {
    String style = encoding.path("style").asText("form");
    boolean isStyled =
        encoding.has("style") || encoding.has("explode") || encoding.has("allowReserved");
    boolean isJson = !isStyled && (value.isObject() || isJson(encoding));
    return isJson
        ? Stream.of(StyledParameters.Pair.of(name, value.text()))
        : StyledParameters.of(
            name, value, style, encoding.path("explode").asBoolean(style.equals("form")))
            .stream();
  }

  private static boolean isJson(JsonNode encoding) {
    return MediaTypes.isJson(MediaTypes.withoutParameters(contentType(encoding)));
  }

  /** The first declared content type without a wildcard; empty if absent. */
  private static String contentType(JsonNode encoding) {
    return Stream.of(encoding.path("contentType").asText("").split(","))
        .map(String::strip)
        .filter(type -> !type.contains("*"))
        .findFirst()
        .orElse("");
  }

  private static ApiBody multipart(Operation.Body body, JsonSlice value) {
    Multipart parts = new Multipart();
    members(value)
        .forEach(
            (name, field) -> {
              boolean isSingle = !field.isArray() || isJson(body.encoding(name));
              List<JsonSlice> values = isSingle ? List.of(field) : JsonObjects.elements(field);
              values.forEach(each -> part(parts, body, name, each));
            });
    return new ApiBody(parts.type(body.type()), parts.done());
  }

  private static void part(Multipart parts, Operation.Body body, String name, JsonSlice value) {
    String type = contentType(body.encoding(name));
    if (isFile(body.fields().get(name))) {
      parts.file(name, type.isEmpty() ? BYTES : type, decoded(name, StyledParameters.text(value)));
    } else if (value.isObject() || value.isArray() || isJson(body.encoding(name))) {
      parts.field(name, type.isEmpty() ? JSON : type, value.text());
    } else {
      parts.field(
          name, type.isEmpty() ? "text/plain; charset=utf-8" : type, StyledParameters.text(value));
    }
  }

  private static boolean isFile(JsonNode schema) {
    if (schema == null) {
      return false;
    }
    String format = schema.path("format").asText();
    return format.equals("binary")
        || format.equals("byte")
        || schema.path("contentEncoding").asText().equals("base64")
        || schema.path("contentMediaType").asText().equals(BYTES);
  }

  private static Buffer decoded(String name, String base64) {
    try {
      return Buffer.buffer(Base64.getMimeDecoder().decode(base64));
    } catch (IllegalArgumentException e) {
      throw ArgumentErrors.of("'" + name + "' is not valid Base64");
    }
  }
}
