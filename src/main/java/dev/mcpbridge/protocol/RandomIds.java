package dev.mcpbridge.protocol;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Unguessable ids, tokens and keys in hexadecimal digits. Thread-safe. */
public final class RandomIds {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int BYTES = 16;

  private RandomIds() {}

  /** 128 random bits. */
  public static String next() {
    return hex(BYTES);
  }

  public static String hex(int bytes) {
    byte[] random = new byte[bytes];
    RANDOM.nextBytes(random);
    return HexFormat.of().formatHex(random);
  }
}
