package dev.mcpbridge.api;

import dev.mcpbridge.call.ToolLocation;

/**
 * A tool that a caller may list. Immutable.
 *
 * @param name distinguishes it among the tools of all servers; valid as the name of a function in
 *     the APIs of models
 * @param server the server that it belongs to
 * @param ownName its name at its server
 * @param description empty if it has none
 * @param inputSchema JSON Schema of its arguments, as JSON text
 * @param definition the whole entry of {@code tools/list} of its server, as JSON text
 */
public record Tool(
    String name,
    String server,
    String ownName,
    String description,
    String inputSchema,
    String definition) {
  private static final String ANY_OBJECT = "{\"type\":\"object\"}";

  static Tool of(String name, ToolLocation location) {
    dev.mcpbridge.model.Tool tool = location.tool();
    return new Tool(
        name,
        location.server().id().name(),
        location.name(),
        tool.description(),
        tool.inputSchema() == null ? ANY_OBJECT : tool.inputSchema().text(),
        tool.definition().text());
  }
}
