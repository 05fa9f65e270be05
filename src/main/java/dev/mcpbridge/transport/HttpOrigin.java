package dev.mcpbridge.transport;

import java.net.URI;
import java.util.Locale;

/** Scheme, host and port (RFC 6454), the port spelt out. */
public record HttpOrigin(String scheme, String host, int port) {

  /**
   * @param uri an absolute one
   */
  public static HttpOrigin of(URI uri) {
    int standard = "https".equalsIgnoreCase(uri.getScheme()) ? 443 : 80;
    return new HttpOrigin(
        uri.getScheme().toLowerCase(Locale.ROOT),
        uri.getHost() == null ? null : uri.getHost().toLowerCase(Locale.ROOT),
        uri.getPort() < 0 ? standard : uri.getPort());
  }
}
