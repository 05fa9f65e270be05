package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/** A command that is applied by all nodes in the same order. */
sealed interface Command {

  /**
   * A node joins, or its description has changed.
   *
   * @param bridge the id of the bridge if it has none yet
   */
  record Join(Member member, String bridge) implements Command {}

  /** A node leaves: it has left itself, or the primary has declared it lost. */
  record Leave(int slot, long incarnation) implements Command {}

  /** An instance has stopped at the node that owned it. */
  record Release(InstanceId instanceId, int slot, long incarnation, long epoch)
      implements Command {}

  record Put(String map, String key, long expected, byte[] value, long ttlMillis, Eviction eviction)
      implements Command {}

  record Remove(String map, String key, long expected) implements Command {}

  /** No operation; once it is applied, all earlier commands have been applied. */
  record Look() implements Command {}

  /** The map that it may change; null if there is no map. */
  default String map() {
    return null;
  }

  default byte[] toBytes() {
    WireWriter out = new WireWriter();
    if (this instanceof Join join) {
      out.octet(1).part(join.member(), Member::write).text(join.bridge());
    } else if (this instanceof Leave leave) {
      out.octet(2).number(leave.slot()).number(leave.incarnation());
    } else if (this instanceof Release release) {
      out.octet(3)
          .text(release.instanceId().name())
          .number(release.slot())
          .number(release.incarnation())
          .number(release.epoch());
    } else if (this instanceof Put put) {
      out.octet(4)
          .text(put.map())
          .text(put.key())
          .number(put.expected())
          .bytes(put.value())
          .number(put.ttlMillis())
          .octet(put.eviction().ordinal());
    } else if (this instanceof Remove remove) {
      out.octet(5).text(remove.map()).text(remove.key()).number(remove.expected());
    } else {
      out.octet(6);
    }
    return out.toBytes();
  }

  /** A command that is unknown to this version becomes a no-op. */
  static Command of(byte[] bytes) {
    WireReader in = new WireReader(bytes);
    return switch (in.octet()) {
      case 1 -> new Join(in.part(Member::read), in.text());
      case 2 -> new Leave((int) in.number(), in.number());
      case 3 -> new Release(InstanceId.of(in.text()), (int) in.number(), in.number(), in.number());
      case 4 ->
          new Put(
              in.text(),
              in.text(),
              in.number(),
              in.bytes(),
              in.number(),
              Eviction.values()[in.octet()]);
      case 5 -> new Remove(in.text(), in.text(), in.number());
      default -> new Look();
    };
  }
}
