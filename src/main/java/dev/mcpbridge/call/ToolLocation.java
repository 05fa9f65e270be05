package dev.mcpbridge.call;

import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.profile.ToolShape;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.JsonSlice;

/**
 * An entry of a {@link ToolCatalogue} and its server.
 *
 * @param server with what is offered of it
 * @param name the server's own name of it
 * @param entry the entry as listed by the catalogue
 * @param shape how a tool looks in the profile of the catalogue
 * @param mirrorsHeaders whether it declares arguments to be mirrored in headers
 */
public record ToolLocation(
    ServerView server, String name, JsonSlice entry, ToolShape shape, boolean mirrorsHeaders) {
  private static final String ANNOTATION = "x-mcp-header";

  ToolLocation(ServerView server, String name, JsonSlice entry, ToolShape shape) {
    this(server, name, entry, shape, entry.text().contains(ANNOTATION));
  }

  ToolLocation(ServerView server, String name, JsonSlice entry) {
    this(server, name, entry, ToolShape.PLAIN);
  }

  /** The tool of this name. */
  public Tool tool() {
    return server.catalogue().tools().get(name);
  }

  /**
   * The arguments that the server gets.
   *
   * @throws dev.mcpbridge.error.BridgeException INVALID_ARGUMENTS for parameters that the catalogue
   *     does not show
   */
  public Arguments arguments(Arguments given) {
    return shape.arguments(given);
  }
}
