package dev.mcpbridge.call;

import java.security.SecureRandom;

/** Generates call ids: a random prefix and a counter. Not thread-safe; confined like its owner. */
public final class CallIds {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String prefix = Long.toUnsignedString(RANDOM.nextLong(), 36) + "-";
  private long count;

  /** An id for logs, cancellation and progress. */
  public String next() {
    return prefix + Long.toString(++count, 36);
  }

  /** An id that also serves as a capability: it has 128 more random bits. */
  public String nextUnguessable() {
    return next()
        + "-"
        + Long.toUnsignedString(RANDOM.nextLong(), 36)
        + Long.toUnsignedString(RANDOM.nextLong(), 36);
  }
}
