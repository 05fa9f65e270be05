package dev.mcpbridge.adapter.openapi;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * One parameter of an operation (OpenAPI 3.1 section 4.8.12).
 *
 * @param key name of the tool's argument
 * @param name name in the request
 * @param isJson whether the value is sent as JSON text instead of in a style
 */
record Parameter(
    String key,
    String name,
    In in,
    String style,
    boolean explode,
    boolean allowsReserved,
    boolean isJson,
    boolean required) {

  /** The location in a request. */
  enum In {
    PATH("simple"),
    QUERY("form"),
    HEADER("simple"),
    COOKIE("form");

    private final String style;

    In(String style) {
      this.style = style;
    }

    static In of(String location) {
      return switch (location) {
        case "path" -> PATH;
        case "query" -> QUERY;
        case "header" -> HEADER;
        case "cookie" -> COOKIE;
        default -> null;
      };
    }
  }

  static Parameter of(JsonNode node, String key) {
    In in = In.of(node.path("in").asText());
    String style = node.path("style").asText(in.style);
    return new Parameter(
        key,
        node.path("name").asText(),
        in,
        style,
        node.path("explode").asBoolean(style.equals("form")),
        node.path("allowReserved").asBoolean(),
        node.has("content"),
        in == In.PATH || node.path("required").asBoolean());
  }
}
