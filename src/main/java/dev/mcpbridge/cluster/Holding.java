package dev.mcpbridge.cluster;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/**
 * Who owns a part of a server.
 *
 * @param life of the owner's process
 * @param epoch higher than that of every earlier owner
 */
record Holding(int slot, long life, long epoch) {

  boolean isOf(Member member) {
    return member.slot() == slot && member.life() == life;
  }

  static void write(WireWriter out, Holding holding) {
    out.number(holding.slot).number(holding.life).number(holding.epoch);
  }

  static Holding read(WireReader in) {
    return new Holding((int) in.number(), in.number(), in.number());
  }
}
