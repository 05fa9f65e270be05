package dev.mcpbridge.it.mcp.matrix;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The client, upstream and endpoint of one column of the matrix.
 *
 * @param stateless whether the client uses 2026-07-28; otherwise it has a session of 2025-11-25
 * @param aggregated whether it uses the endpoint of all servers; otherwise that of one server
 */
public record Combination(boolean stateless, Upstream upstream, boolean aggregated) {

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
                            Stream.of(true, false)
                                .map(each -> new Combination(stateless, upstream, each))))
        .toList();
  }

  @Override
  public String toString() {
    return (stateless ? "stateless" : "session")
        + " to "
        + upstream.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ')
        + (aggregated ? " through all" : " through one");
  }
}
