package dev.mcpbridge.cluster.peer;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;

/**
 * A message between nodes.
 *
 * @param id connects an answer with its question; 0 for news
 * @param name address of a question, topic of news; empty for answers
 */
record Message(Kind kind, long id, String name, byte[] body) {
  private static final Kind[] KINDS = Kind.values();

  enum Kind {
    NEWS,
    QUESTION,
    ANSWER,
    FAILURE
  }

  byte[] toBytes() {
    return new WireWriter(body.length + name.length() + 24)
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
