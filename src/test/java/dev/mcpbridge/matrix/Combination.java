package dev.mcpbridge.matrix;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Who speaks to whom over what: one column of the matrix.
 *
 * @param stateless whether the client speaks 2026-07-28, else it has a session of 2025-11-25
 * @param aggregated whether it uses the door of all servers, else that of one
 */
public record Combination(boolean stateless, Upstream upstream, boolean aggregated) {

  /** An era and a transport of the servers. */
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

  /** All that there are, each upstream's together. */
  public static List<Combination> all() {
    return Arrays.stream(Upstream.values())
        .flatMap(
            upstream ->
                Stream.of(true, false)
                    .flatMap(
                        stateless ->
                            Stream.of(true, false)
                                .map(all -> new Combination(stateless, upstream, all))))
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
