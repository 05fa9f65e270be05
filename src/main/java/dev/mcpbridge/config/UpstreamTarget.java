package dev.mcpbridge.config;

/**
 * How a server is reached: started on this machine or in a container, called where it runs, or
 * adapted from a service that does not speak MCP.
 */
public sealed interface UpstreamTarget
    permits ProcessTarget, ContainerTarget, RemoteTarget, OpenApiSource, ToolCallSource {

  /** Whether the server is an adapter inside the bridge, which a restart cannot repair. */
  default boolean isAdapter() {
    return this instanceof OpenApiSource || this instanceof ToolCallSource;
  }
}
