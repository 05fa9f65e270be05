package dev.mcpbridge.config;

import java.net.URI;
import java.nio.file.Path;
import java.util.Map;

/**
 * Where a server runs that somebody else starts.
 *
 * @param url of its MCP endpoint, or of its event stream for the old HTTP+SSE
 * @param headers sent with every request; they may hold credentials
 * @param authority PEM file of the certificates to trust; null for the JDK's
 */
public record Remote(URI url, Kind kind, Map<String, Secret> headers, Path authority)
    implements Reach {

  /** The transports that run over HTTP. */
  public enum Kind {
    /** Streamable HTTP; the old one where a server knows only that. */
    HTTP,
    /** HTTP+SSE of 2024-11-05. */
    SSE
  }

  public Remote {
    headers = Map.copyOf(headers);
  }
}
