package dev.mcpbridge.auth;

import dev.mcpbridge.protocol.Sha256;
import java.security.SecureRandom;
import java.util.Base64;

/** Secrets of authorization requests (RFC 7636). Stateless. */
public final class Pkce {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

  private Pkce() {}

  /** 256 random bits, as 43 characters of Base64 for URLs. */
  public static String random() {
    byte[] bytes = new byte[32];
    RANDOM.nextBytes(bytes);
    return BASE64.encodeToString(bytes);
  }

  /** The S256 challenge of a verifier. */
  public static String challenge(String verifier) {
    return BASE64.encodeToString(Sha256.of(verifier).bytes());
  }
}
