package dev.mcpbridge.http.mcp;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Names that nobody can guess: 128 random bits, in hexadecimal digits. */
final class RandomIds {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int BYTES = 16;

  private RandomIds() {}

  static String next() {
    byte[] bits = new byte[BYTES];
    RANDOM.nextBytes(bits);
    return HexFormat.of().formatHex(bits);
  }
}
