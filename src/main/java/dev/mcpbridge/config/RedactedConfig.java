package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A configuration as it may be shown to others: keys, numbers, words of the schema, placeholders,
 * the names of commands, and schemes and hosts of URLs stay; every other text is replaced by its
 * length, for it may be a secret.
 */
public final class RedactedConfig {
  private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{(env|file):[^}:]*\\}");
  private static final JsonNode COMMAND = ConfigSchema.entry().path("properties").path("command");
  private static final Set<String> NUMBERS = Set.of("integer", "number");

  /** A program without arguments, which belong to another key. */
  private static final Pattern PROGRAM = Pattern.compile("[^\\s=]{1,200}");

  private static final Pattern URL = Pattern.compile("(?i)[a-z][a-z0-9+.-]*://.*");

  private RedactedConfig() {}

  /** Empty if the text is not JSON. */
  public static Optional<String> of(String text) {
    try {
      return Optional.of(
          Json.mapper()
              .writerWithDefaultPrettyPrinter()
              .writeValueAsString(redacted(Json.tree(text), ConfigSchema.root())));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static JsonNode redacted(JsonNode value, JsonNode schema) {
    if (value.isObject()) {
      ObjectNode out = JsonNodeFactory.instance.objectNode();
      value
          .properties()
          .forEach(
              each ->
                  out.set(
                      each.getKey(),
                      redacted(each.getValue(), ConfigSchema.member(schema, each.getKey()))));
      return out;
    }
    if (value.isArray()) {
      ArrayNode out = JsonNodeFactory.instance.arrayNode();
      value.forEach(each -> out.add(redacted(each, ConfigSchema.element(schema))));
      return out;
    }
    if (value.isNumber() && !NUMBERS.contains(schema.path("type").asText())) {
      return TextNode.valueOf("(a number)");
    }
    return value.isTextual() ? TextNode.valueOf(shown(value.textValue(), schema)) : value;
  }

  private static String shown(String text, JsonNode schema) {
    if (isWord(text, schema.path("enum")) || isWord(text, schema.path("examples"))) {
      return text;
    }
    if (PLACEHOLDER.matcher(text).matches()) {
      return text;
    }
    if (URL.matcher(text).matches()) {
      return origin(text);
    }
    return schema.equals(COMMAND) && PROGRAM.matcher(text).matches()
        ? command(text)
        : "(" + text.length() + " characters)";
  }

  private static boolean isWord(String text, JsonNode words) {
    for (JsonNode word : words) {
      if (text.equals(word.textValue())) {
        return true;
      }
    }
    return false;
  }

  private static String origin(String url) {
    try {
      URI parsed = URI.create(url);
      String port = parsed.getPort() == -1 ? "" : ":" + parsed.getPort();
      return parsed.getScheme() + "://" + parsed.getHost() + port + "/…";
    } catch (IllegalArgumentException e) {
      return "(a URL)";
    }
  }

  private static String command(String text) {
    try {
      return String.valueOf(Path.of(text).getFileName());
    } catch (IllegalArgumentException e) {
      return "(a command)";
    }
  }
}
