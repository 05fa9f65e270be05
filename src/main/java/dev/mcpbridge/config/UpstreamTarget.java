package dev.mcpbridge.config;

import java.net.URI;
import java.util.List;

/**
 * How a server is reached: started on this machine or in a container, called where it runs, or
 * adapted from a service that does not speak MCP.
 */
public sealed interface UpstreamTarget
    permits ProcessTarget,
        ContainerTarget,
        RemoteTarget,
        OpenApiSource,
        ToolCallSource,
        GrpcSource {

  /** How requests to it are authorized; null if it is not reached over HTTP. */
  default HttpAccess access() {
    return null;
  }

  /** The URL of an MCP server, or of an API as far as it is configured; else null. */
  default URI url() {
    return null;
  }

  /** How the bridge obtains credentials for it by OAuth; null if it does not. */
  default OAuthConfig oauth() {
    return access() == null ? null : access().oauth();
  }

  /** Whether a caller's own credential is sent to it; never to an MCP server. */
  default boolean takesCredentials() {
    return this instanceof OpenApiSource || this instanceof GrpcSource;
  }

  /** Texts that must not be shown when the server writes them. */
  default List<String> secrets() {
    return List.of();
  }

  /** Whether the server is an adapter inside the bridge, which a restart cannot repair. */
  default boolean isAdapter() {
    return this instanceof OpenApiSource
        || this instanceof ToolCallSource
        || this instanceof GrpcSource;
  }
}
