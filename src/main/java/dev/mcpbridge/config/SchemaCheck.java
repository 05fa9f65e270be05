package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Checks one value against the schema of its key, and reports what was expected. Covers the
 * keywords that the configuration's schema uses for single values: {@code type}, {@code enum},
 * {@code minimum}, {@code maximum}, {@code minLength}, {@code maxLength}, {@code pattern}, {@code
 * minItems} and {@code maxItems}. Objects are checked key by key, see {@link Section}. Stateless.
 */
final class SchemaCheck {
  /** The end of the text in a schema (ECMA-262); in Java also before a final line break. */
  private static final Pattern UNESCAPED_DOLLAR = Pattern.compile("(?<!\\\\)\\$");

  private static final int MAX_SHOWN = 60;

  /** The part of a pattern that is for editors: values are checked without placeholders. */
  private static final String PLACEHOLDER = "|\\$\\{(env|file):";

  private SchemaCheck() {}

  /** Null if the value is valid; otherwise a phrase that starts with "expected". */
  static String violation(JsonNode value, JsonNode schema) {
    if (schema.has("enum")) {
      return schema.path("enum").valueStream().anyMatch(value::equals)
          ? null
          : schema
              .path("enum")
              .valueStream()
              .map(JsonNode::asText)
              .collect(Collectors.joining(", ", "expected one of ", ""));
    }
    if (!hasType(value, schema.path("type"))) {
      return type(schema);
    }
    if (value.isArray() && value.size() < schema.path("minItems").asInt(0)) {
      return "expected a non-empty list";
    }
    if (value.isArray()) {
      return value.size() > schema.path("maxItems").asInt(Integer.MAX_VALUE) ? type(schema) : null;
    }
    if (isSize(schema)) {
      return value.isObject() || isWithin(ByteSize.parse(value.asText()), schema)
          ? null
          : type(schema);
    }
    if (value.isNumber()) {
      return isWithin(value.doubleValue(), schema) ? null : type(schema);
    }
    return value.isTextual() ? text(value.textValue(), schema) : null;
  }

  /** The value as shown in messages, abbreviated. */
  static String abbreviate(JsonNode value) {
    if (value.isContainerNode()) {
      return value.isArray() ? "a list of " + value.size() : "an object";
    }
    String text = value.toString();
    return text.length() > MAX_SHOWN ? text.substring(0, MAX_SHOWN) + "…" : text;
  }

  private static String text(String text, JsonNode schema) {
    int minLength = schema.path("minLength").asInt(0);
    int maxLength = schema.path("maxLength").asInt(Integer.MAX_VALUE);
    if (text.length() < minLength || text.isBlank() && minLength > 0) {
      return "expected a non-empty string";
    }
    if (text.length() > maxLength) {
      return "expected at most " + maxLength + " characters";
    }
    String pattern = schema.path("pattern").asText().replace(PLACEHOLDER, "");
    return Pattern.compile(UNESCAPED_DOLLAR.matcher(pattern).replaceAll("\\\\z"))
            .matcher(text)
            .find()
        ? null
        : schema.path("patternErrorMessage").textValue();
  }

  private static boolean hasType(JsonNode value, JsonNode type) {
    if (type.isArray()) {
      return type.valueStream().anyMatch(alternative -> hasType(value, alternative));
    }
    return switch (type.asText()) {
      case "string" -> value.isTextual();
      case "boolean" -> value.isBoolean();
      case "integer" -> value.isIntegralNumber() && value.canConvertToLong();
      case "number" -> value.isNumber();
      case "array" -> value.isArray();
      case "object" -> value.isObject();
      default -> true;
    };
  }

  private static boolean isSize(JsonNode schema) {
    return schema.path("type").isArray() && schema.path("unit").asText().equals("bytes");
  }

  private static boolean isWithin(double number, JsonNode schema) {
    return number >= schema.path("minimum").asDouble(Double.NEGATIVE_INFINITY)
        && number <= schema.path("maximum").asDouble(Double.POSITIVE_INFINITY);
  }

  private static String type(JsonNode schema) {
    String range =
        schema.has("minimum")
            ? " from " + schema.path("minimum") + " to " + schema.path("maximum")
            : "";
    if (isSize(schema)) {
      return "expected a size like 512m," + range + " bytes";
    }
    String type = schema.path("type").asText();
    return switch (type) {
      case "string" -> "expected a string";
      case "boolean" -> "expected true or false";
      case "integer" -> "expected a whole number" + range;
      case "number" ->
          (schema.path("unit").asText().equals("seconds")
                  ? "expected a number of seconds"
                  : "expected a number")
              + range;
      case "array" ->
          schema.has("maxItems")
              ? "expected a list of at most " + schema.path("maxItems") + " strings"
              : "expected a list";
      case "object" -> "expected an object";
      default -> "expected an object or a list";
    };
  }
}
