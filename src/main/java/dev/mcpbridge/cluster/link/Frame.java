package dev.mcpbridge.cluster.link;

/** What a frame on a connection is: a length of four bytes, one of these, and its payload. */
enum Frame {
  HELLO,
  PROOF,
  REFUSAL,
  ALIVE,
  MESSAGE,
  /** A piece of a message: a stream's number, the length that is still to come, bytes. */
  PIECE,
  /** So many bytes of a stream more may come. */
  CREDIT,
  /** Whoever sends this stops: it answers what comes until the other one has fallen silent. */
  LEAVING,
  /** The answer to that: after this come no questions. */
  SILENT,
  /** Whoever stops has said everything; the other one, who has read it then, closes. */
  OVER;

  private static final Frame[] ALL = values();

  /** Null for one that this version does not know, and passes over. */
  static Frame of(int octet) {
    return octet < ALL.length ? ALL[octet] : null;
  }
}
