package dev.mcpbridge.call;

import java.security.SecureRandom;

/**
 * Names calls: unguessable by its random half, cheap by its counter. Not thread-safe; confined like
 * its owner.
 */
public final class CallIds {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String prefix = Long.toUnsignedString(RANDOM.nextLong(), 36) + "-";
  private long count;

  /** A name for logs, cancellation and progress. */
  public String next() {
    return prefix + Long.toString(++count, 36);
  }

  /** A name that is also a capability: 128 random bits more. */
  public String nextUnguessable() {
    return next()
        + "-"
        + Long.toUnsignedString(RANDOM.nextLong(), 36)
        + Long.toUnsignedString(RANDOM.nextLong(), 36);
  }
}
