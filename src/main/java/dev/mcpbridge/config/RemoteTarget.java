package dev.mcpbridge.config;

import java.net.URI;

/**
 * Where an MCP server runs that somebody else starts.
 *
 * @param url of its MCP endpoint, or of its event stream for the old HTTP+SSE
 */
public record RemoteTarget(URI url, Kind kind, HttpAccess access) implements UpstreamTarget {

  /** The transports that run over HTTP. */
  public enum Kind {
    /** Streamable HTTP; the old one where a server knows only that. */
    HTTP,
    /** HTTP+SSE of 2024-11-05. */
    SSE
  }
}
