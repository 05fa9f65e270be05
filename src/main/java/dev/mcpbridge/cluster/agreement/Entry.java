package dev.mcpbridge.cluster.agreement;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/**
 * A command in the order that all agreed on.
 *
 * @param proposer slot of the node that wants it
 * @param incarnation of that node
 * @param number of the command among those of the proposer, so that it is applied once however
 *     often it was sent
 * @param oldestOpen the lowest number that its proposer still waits for
 * @param timeMillis wall clock of the primary that gave it its place: the one clock that expiry is
 *     decided by
 */
public record Entry(
    int proposer, long incarnation, long number, long oldestOpen, long timeMillis, byte[] command) {

  Entry at(long millis) {
    return new Entry(proposer, incarnation, number, oldestOpen, millis, command);
  }

  Entry of(long life) {
    return new Entry(proposer, life, number, oldestOpen, timeMillis, command);
  }

  static void write(WireWriter out, Entry entry) {
    out.number(entry.proposer)
        .number(entry.incarnation)
        .number(entry.number)
        .number(entry.oldestOpen)
        .number(entry.timeMillis)
        .bytes(entry.command);
  }

  static Entry read(WireReader in) {
    return new Entry(
        (int) in.number(), in.number(), in.number(), in.number(), in.number(), in.bytes());
  }
}
