package dev.mcpbridge.cluster.trust;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Authenticated encryption of values (AES-256-GCM, NIST SP 800-38D) with a random nonce. The name
 * of a value is authenticated with it, so that values cannot be exchanged. Thread-safe.
 */
public final class Seal {
  private static final String ALGORITHM = "AES/GCM/NoPadding";
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;

  private final SecretKeySpec key;
  private final SecureRandom random = new SecureRandom();

  /**
   * @param key 32 bytes
   */
  public Seal(byte[] key) {
    this.key = new SecretKeySpec(key, "AES");
  }

  public byte[] seal(byte[] name, byte[] value) {
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    try {
      Cipher cipher = cipher(Cipher.ENCRYPT_MODE, nonce, name);
      ByteBuffer sealed = ByteBuffer.allocate(NONCE_BYTES + value.length + TAG_BITS / 8).put(nonce);
      cipher.doFinal(ByteBuffer.wrap(value), sealed);
      return sealed.array();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * @throws GeneralSecurityException if the value was sealed with another key or name, or changed
   */
  public byte[] open(byte[] name, byte[] sealed) throws GeneralSecurityException {
    if (sealed.length < NONCE_BYTES + TAG_BITS / 8) {
      throw new GeneralSecurityException("not a sealed value");
    }
    Cipher cipher = cipher(Cipher.DECRYPT_MODE, Arrays.copyOf(sealed, NONCE_BYTES), name);
    return cipher.doFinal(sealed, NONCE_BYTES, sealed.length - NONCE_BYTES);
  }

  private Cipher cipher(int mode, byte[] nonce, byte[] name) throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance(ALGORITHM);
    cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
    cipher.updateAAD(name);
    return cipher;
  }
}
