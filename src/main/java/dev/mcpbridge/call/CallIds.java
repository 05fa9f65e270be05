package dev.mcpbridge.call;

import dev.mcpbridge.protocol.RandomIds;

/** Generates call ids: a random prefix and a counter. Not thread-safe; confined like its owner. */
public final class CallIds {
  private final String prefix = RandomIds.hex(8) + "-";
  private long count;

  /** An id for logs, cancellation and progress. */
  public String next() {
    return prefix + Long.toString(++count, 36);
  }

  /** An id that also serves as a capability: it has 128 more random bits. */
  public String nextUnguessable() {
    return next() + "-" + RandomIds.next();
  }
}
