package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 over several parts (FIPS 180-4); the caller separates them with {@link #end}. */
public final class Sha256 {
  private final MessageDigest digest;

  public Sha256() {
    try {
      this.digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** The digest of a text in UTF-8. */
  public static Sha256 of(String text) {
    return new Sha256().add(text);
  }

  public Sha256 add(String text) {
    return add(text.getBytes(StandardCharsets.UTF_8));
  }

  public Sha256 add(byte[] bytes) {
    digest.update(bytes);
    return this;
  }

  public Sha256 add(JsonSlice json) {
    digest.update(json.bytes(), json.from(), json.length());
    return this;
  }

  /** Ends a part with a zero byte, which occurs neither in names nor in JSON. */
  public Sha256 end() {
    digest.update((byte) 0);
    return this;
  }

  /** Returns the digest and resets it. */
  public byte[] bytes() {
    return digest.digest();
  }

  /** The first hexadecimal digits of the digest; resets it. */
  public String hex(int digits) {
    return hex().substring(0, digits);
  }

  public String hex() {
    return HexFormat.of().formatHex(digest.digest());
  }
}
