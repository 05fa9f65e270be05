package dev.mcpbridge.cluster;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/**
 * The owner of an instance.
 *
 * @param incarnation incarnation of the owner's process
 * @param epoch fencing number, higher than that of every earlier owner
 */
record OwnerEpoch(int slot, long incarnation, long epoch) {

  boolean isOf(Member member) {
    return member.slot() == slot && member.incarnation() == incarnation;
  }

  static void write(WireWriter out, OwnerEpoch ownerEpoch) {
    out.number(ownerEpoch.slot).number(ownerEpoch.incarnation).number(ownerEpoch.epoch);
  }

  static OwnerEpoch read(WireReader in) {
    return new OwnerEpoch((int) in.number(), in.number(), in.number());
  }
}
