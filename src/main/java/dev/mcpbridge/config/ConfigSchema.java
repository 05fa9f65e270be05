package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

/**
 * The JSON Schema of the configuration, {@code conf/bridge.schema.json}: the only definition of
 * keys, types, bounds and defaults, and of how each key is treated: {@code reload} if a change
 * takes effect without a restart; {@code operational} if it defines how a server is operated and
 * not what it is; {@code fileOnly} if entries from the API cannot have it, because it would give
 * access to what the operator did not intend. Loaded once, on first use. Immutable.
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

  /** The keys of an entry that have the mark. */
  static List<String> entryKeys(String mark) {
    return entry().path("properties").properties().stream()
        .filter(key -> key.getValue().path(mark).asBoolean())
        .map(Map.Entry::getKey)
        .toList();
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
