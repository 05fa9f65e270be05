package dev.mcpbridge.bus;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.LogLine;
import java.util.List;

/** The addresses and messages about what servers log. */
public final class ServerLogs {
  private static final long TIMEOUT_MILLIS = 3_000;

  private static final WireCodec<Query> QUERY =
      new WireCodec<>(
          (out, query) -> out.number(query.after()).number(query.limit()),
          in -> new Query(in.number(), (int) in.number()));

  private static final WireCodec<List<LogLine>> LINES =
      new WireCodec<>(
          (out, lines) ->
              out.list(
                  lines,
                  (w, line) ->
                      w.number(line.number())
                          .number(line.atMillis())
                          .text(line.stream())
                          .number(line.pid())
                          .text(line.text())),
          in ->
              in.list(
                  each ->
                      new LogLine(
                          each.number(), each.number(), each.text(), each.number(), each.text())));

  private ServerLogs() {}

  /**
   * A query for lines.
   *
   * @param after the number after which the lines begin; 0 for the last lines
   * @param limit how many lines are sent at most
   */
  public record Query(long after, int limit) {}

  /** Lines of an instance, the oldest first. */
  public static Address<Query, List<LogLine>> at(InstanceId instance) {
    return Address.atOwner(instance, "log", QUERY, LINES, query -> TIMEOUT_MILLIS);
  }
}
