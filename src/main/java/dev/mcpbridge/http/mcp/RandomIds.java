package dev.mcpbridge.http.mcp;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Unguessable ids: 128 random bits in hexadecimal digits. */
final class RandomIds {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int BYTES = 16;

  private RandomIds() {}

  static String next() {
    byte[] bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
