package dev.mcpbridge.it.mcp.matrix;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The client, upstream and endpoint of one column of the matrix.
 *
 * @param stateless whether the client uses 2026-07-28; otherwise it has a session of 2025-11-25
 * @param endpoint which of the bridge's endpoints it uses
 */
public record Combination(boolean stateless, Upstream upstream, Endpoint endpoint) {

  /** The endpoints of a bridge; the profile offers everything. */
  public enum Endpoint {
    ALL,
    ONE,
    PROFILE
  }

  /** The era and transport of the servers. */
  public enum Upstream {
    LEGACY_STDIO,
    MODERN_STDIO,
    LEGACY_HTTP,
    MODERN_HTTP,
    LEGACY_SSE;

    String era() {
      return modern() ? "modern" : "legacy";
    }

    boolean started() {
      return name().endsWith("STDIO");
    }

    boolean modern() {
      return name().startsWith("MODERN");
    }
  }

  /** All combinations, grouped by upstream. */
  public static List<Combination> all() {
    return Arrays.stream(Upstream.values())
        .flatMap(
            upstream ->
                Stream.of(true, false)
                    .flatMap(
                        stateless ->
                            endpoints(upstream)
                                .map(each -> new Combination(stateless, upstream, each))))
        .toList();
  }

  /** The profile with one upstream of each era, one of which is remote. */
  private static Stream<Endpoint> endpoints(Upstream upstream) {
    return upstream == Upstream.LEGACY_STDIO || upstream == Upstream.MODERN_HTTP
        ? Stream.of(Endpoint.values())
        : Stream.of(Endpoint.ALL, Endpoint.ONE);
  }

  /** Whether names include their server. */
  boolean aggregated() {
    return endpoint != Endpoint.ONE;
  }

  String path(String server) {
    return switch (endpoint) {
      case ALL -> "/mcp";
      case ONE -> "/servers/" + server + "/mcp";
      case PROFILE -> "/profiles/everything/mcp";
    };
  }

  @Override
  public String toString() {
    return (stateless ? "stateless" : "session")
        + " to "
        + upstream.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ')
        + " through "
        + endpoint.name().toLowerCase(java.util.Locale.ROOT);
  }
}
