package dev.mcpbridge.config;

/**
 * How a server is reached: by starting it, on this machine or in a container, where it runs, or by
 * calling something that is no MCP server as if it were one.
 */
public sealed interface UpstreamTarget
    permits ProcessTarget, ContainerTarget, RemoteTarget, OpenApiSource, ToolCallSource {

  /** Whether the server is a part of this bridge: there is nothing that a new start could mend. */
  default boolean isAdapted() {
    return this instanceof OpenApiSource || this instanceof ToolCallSource;
  }
}
