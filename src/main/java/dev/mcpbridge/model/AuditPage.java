package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonSlice;
import java.util.List;

/**
 * Results of a search in the audit trail of a node.
 *
 * @param lines the newest first
 * @param next number below which the search goes on; 0 at its end
 */
public record AuditPage(List<Line> lines, long next) {
  /**
   * A record as it stands in the trail.
   *
   * @param seq its number
   * @param atMillis its time, by the wall clock
   */
  public record Line(long seq, long atMillis, JsonSlice text) {}
}
