package dev.mcpbridge.transport;

import java.net.URI;

/** Scheme, host and port (RFC 6454), the port spelt out. */
record HttpOrigin(String scheme, String host, int port) {
  static HttpOrigin of(URI uri) {
    int standard = "https".equals(uri.getScheme()) ? 443 : 80;
    return new HttpOrigin(
        uri.getScheme(), uri.getHost(), uri.getPort() < 0 ? standard : uri.getPort());
  }
}
