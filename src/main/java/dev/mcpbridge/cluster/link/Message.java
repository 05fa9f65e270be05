package dev.mcpbridge.cluster.link;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/**
 * What one node says to another.
 *
 * @param id of a question, and of its answer; 0 for what has none
 * @param name where it goes; empty for answers
 */
record Message(Kind kind, long id, String name, byte[] body) {

  /** What is to be done with it. */
  enum Kind {
    AGREEMENT,
    NEWS,
    QUESTION,
    ANSWER,
    FAILURE
  }

  private static final Kind[] KINDS = Kind.values();

  byte[] toBytes() {
    return new WireWriter(body.length + name.length() + 16)
        .octet(kind.ordinal())
        .number(id)
        .text(name)
        .bytes(body)
        .toBytes();
  }

  /** Null for a kind that a later version has added. */
  static Message of(byte[] bytes) {
    WireReader in = new WireReader(bytes);
    int kind = in.octet();
    return kind < KINDS.length
        ? new Message(KINDS[kind], in.number(), in.text(), in.bytes())
        : null;
  }
}
