package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * The listener.
 *
 * @param hosts names beside the listener's own under which clients may reach it
 * @param corsOrigins origins whose pages may call; none by default
 * @param tls null for plain HTTP
 * @param insecure whether another address than loopback may be served without keys
 * @param starts which commands may come over the API
 * @param openHealth whether who has no key is told whether the bridge is well
 */
public record HttpConfig(
    String host,
    int port,
    Set<String> hosts,
    Set<String> corsOrigins,
    Tls tls,
    boolean insecure,
    boolean openHealth,
    int maxConnections,
    int maxStreams,
    Sessions sessions,
    Patience patience,
    StartRules starts) {

  /** How many sessions of MCP may be open at once, and how long one may not be used. */
  public record Sessions(int max, long idleMillis) {}

  /** How long a client may take for a request's head and its body, and between two requests. */
  public record Patience(long headMillis, long bodyMillis, long idleMillis) {}

  /** PEM files. */
  public record Tls(Path certificate, Path key) {}

  public HttpConfig withPort(int other) {
    return new HttpConfig(
        host,
        other,
        hosts,
        corsOrigins,
        tls,
        insecure,
        openHealth,
        maxConnections,
        maxStreams,
        sessions,
        patience,
        starts);
  }

  /** For this machine alone, on any free port, without TLS. */
  public HttpConfig privately() {
    return new HttpConfig(
        "127.0.0.1",
        0,
        Set.of(),
        Set.of(),
        null,
        false,
        false,
        maxConnections,
        maxStreams,
        sessions,
        patience,
        starts);
  }

  public boolean isLoopback() {
    return List.of("127.0.0.1", "::1", "localhost", "[::1]").contains(host)
        || host.startsWith("127.");
  }
}
