package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * The HTTP listener.
 *
 * @param allowedHosts host names that clients may use for this listener, in addition to its own
 * @param corsOrigins origins whose pages may call the bridge; empty by default
 * @param tls null for plain HTTP
 * @param insecure whether an address other than loopback may be served to callers without
 *     credential
 * @param openHealth whether the health status is reported to clients without a key
 * @param console whether the console is served
 * @param compressed what is compressed at most for clients that accept it
 * @param startRules which commands may be started over the API
 */
public record HttpConfig(
    String host,
    int port,
    Set<String> allowedHosts,
    Set<String> corsOrigins,
    Tls tls,
    boolean insecure,
    boolean openHealth,
    boolean console,
    int maxConnections,
    int maxStreams,
    Sessions sessions,
    RequestTimeouts requestTimeouts,
    Compressed compressed,
    StartRules startRules) {

  private static final int NO_LISTENER = -1;

  /** Maximum number of open MCP sessions, and how long one may be idle. */
  public record Sessions(int max, long idleMillis) {}

  /** Timeouts for the head and the body of a request, and for the time between two requests. */
  public record RequestTimeouts(long headMillis, long bodyMillis, long idleMillis) {}

  /** Kinds of responses, each with those before it: what can be compressed, and what may be. */
  public enum Compressed {
    /** Nothing. */
    OFF,
    /** What the bridge tells of itself and its servers. */
    LISTS,
    /** What servers return to their callers. */
    RESULTS
  }

  /** PEM files. */
  public record Tls(Path certificate, Path key) {}

  public HttpConfig withPort(int newPort) {
    return with(newPort, console);
  }

  /** A copy without a listener of its own, and without the console. */
  public HttpConfig withoutListener() {
    return with(NO_LISTENER, false);
  }

  private HttpConfig with(int newPort, boolean newConsole) {
    return new HttpConfig(
        host,
        newPort,
        allowedHosts,
        corsOrigins,
        tls,
        insecure,
        openHealth,
        newConsole,
        maxConnections,
        maxStreams,
        sessions,
        requestTimeouts,
        compressed,
        startRules);
  }

  /** A copy that listens on loopback only, on any free port, without TLS. */
  public HttpConfig onLoopback() {
    return new HttpConfig(
        "127.0.0.1",
        0,
        Set.of(),
        Set.of(),
        null,
        false,
        false,
        false,
        maxConnections,
        maxStreams,
        sessions,
        requestTimeouts,
        compressed,
        startRules);
  }

  /** Whether there is a listener. */
  public boolean listens() {
    return port != NO_LISTENER;
  }

  /** Whether the port is known before the start, and so names what is kept for the next one. */
  public boolean hasFixedPort() {
    return port > 0;
  }

  /** The URL of the listener at the port that it has got. */
  public String url(int boundPort) {
    return (tls == null ? "http://" : "https://")
        + (host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host)
        + ":"
        + boundPort;
  }

  public boolean isLoopback() {
    return List.of("127.0.0.1", "::1", "localhost", "[::1]").contains(host)
        || host.startsWith("127.");
  }
}
