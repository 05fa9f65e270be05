package dev.mcpbridge.config;

import java.net.URI;

/**
 * An MCP server that is not started by the bridge.
 *
 * @param url of its MCP endpoint, or of its event stream for the older HTTP+SSE
 */
public record RemoteTarget(URI url, Kind kind, HttpAccess access) implements UpstreamTarget {

  /** The transports that run over HTTP. */
  public enum Kind {
    /** Streamable HTTP; HTTP+SSE if the server supports nothing else. */
    HTTP,
    /** HTTP+SSE of 2024-11-05. */
    SSE
  }
}
