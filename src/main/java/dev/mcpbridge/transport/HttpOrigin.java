package dev.mcpbridge.transport;

import java.net.URI;
import java.util.Locale;

/** Scheme, host and port (RFC 6454); a default port is made explicit. */
public record HttpOrigin(String scheme, String host, int port) {

  /**
   * @param uri an absolute URI
   */
  public static HttpOrigin of(URI uri) {
    int defaultPort = "https".equalsIgnoreCase(uri.getScheme()) ? 443 : 80;
    return new HttpOrigin(
        uri.getScheme().toLowerCase(Locale.ROOT),
        uri.getHost() == null ? null : uri.getHost().toLowerCase(Locale.ROOT),
        uri.getPort() < 0 ? defaultPort : uri.getPort());
  }
}
