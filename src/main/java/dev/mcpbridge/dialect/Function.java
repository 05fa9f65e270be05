package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;

/**
 * A tool as it is offered to a model.
 *
 * @param name at most 64 characters of {@code [A-Za-z0-9_-]}, which every provider accepts
 * @param inputSchema the schema as declared by the server; null without a usable one
 */
public record Function(String name, String description, JsonNode inputSchema) {

  /**
   * A function with a schema of a server, which is left out if it cannot be read: one hostile
   * server must not spoil the list of all tools.
   *
   * @param schema null without one
   */
  public static Function of(String name, String description, JsonSlice schema) {
    try {
      return new Function(name, description, schema == null ? null : Json.exactTree(schema));
    } catch (IOException unreadable) {
      return new Function(name, description, null);
    }
  }
}
