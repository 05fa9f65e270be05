package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * The JSON Schema of the configuration, {@code conf/bridge.schema.json}: the only definition of
 * keys, types, bounds and defaults. Loaded once, on first use. Immutable.
 */
public final class ConfigSchema {
  private static final JsonNode ROOT = load();

  private ConfigSchema() {}

  private static JsonNode load() {
    try (InputStream in =
        ConfigSchema.class.getResourceAsStream("/dev/mcpbridge/conf/bridge.schema.json")) {
      return Json.tree(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static JsonNode root() {
    return ROOT;
  }

  /** The schema of one entry of {@code mcpServers}. */
  static JsonNode entry() {
    return ROOT.path("$defs").path("entry");
  }

  /** The schema of a member of an object; a missing node if the member is unknown. */
  static JsonNode member(JsonNode object, String key) {
    JsonNode property = object.path("properties").path(key);
    JsonNode schema = property.isMissingNode() ? object.path("additionalProperties") : property;
    return schema.isObject() ? resolved(schema) : MissingNode.getInstance();
  }

  /** The schema of the elements of a list. */
  static JsonNode element(JsonNode list) {
    return resolved((list.has("then") ? list.path("then") : list).path("items"));
  }

  private static JsonNode resolved(JsonNode schema) {
    JsonNode reference = schema.path("$ref");
    return reference.isTextual() ? ROOT.at(reference.textValue().substring(1)) : schema;
  }
}
