package dev.mcpbridge.call;

import dev.mcpbridge.model.ServerId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Credentials of callers for upstream APIs, each for one principal and one server, until it
 * expires. Encrypted with a key of this process (AES-GCM, NIST SP 800-38D), so that a heap dump
 * does not contain them in plain text; lost when the process ends. Confined to its verticle.
 */
public final class UpstreamCredentials {
  private static final int MAX = 10_000;
  private static final int KEY = 32;
  private static final int NONCE = 12;
  private static final int TAG_BITS = 128;

  private final Clock clock;
  private final SecureRandom random = new SecureRandom();
  private final SecretKey key;
  private final Map<CredentialKey, SealedCredential> credentials = new HashMap<>();

  private record CredentialKey(String principal, ServerId server) {}

  private record SealedCredential(byte[] sealed, long untilMillis) {}

  public UpstreamCredentials(Clock clock) {
    this.clock = clock;
    this.key = new SecretKeySpec(random(KEY), "AES");
  }

  private byte[] random(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** Stores a credential. Returns false if the limit is reached. */
  public boolean put(String principal, ServerId server, String authorization, long millis) {
    credentials.values().removeIf(this::isExpired);
    CredentialKey credentialKey = new CredentialKey(principal, server);
    if (credentials.size() >= MAX && !credentials.containsKey(credentialKey)) {
      return false;
    }
    byte[] nonce = random(NONCE);
    byte[] sealed =
        apply(Cipher.ENCRYPT_MODE, nonce, authorization.getBytes(StandardCharsets.UTF_8));
    byte[] both = ByteBuffer.allocate(NONCE + sealed.length).put(nonce).put(sealed).array();
    credentials.put(credentialKey, new SealedCredential(both, clock.millis() + millis));
    return true;
  }

  public void remove(String principal, ServerId server) {
    credentials.remove(new CredentialKey(principal, server));
  }

  /** The credential; null if absent or expired. */
  String of(String principal, ServerId server) {
    SealedCredential found =
        credentials.isEmpty() ? null : credentials.get(new CredentialKey(principal, server));
    if (found == null || isExpired(found)) {
      return null;
    }
    byte[] nonce = Arrays.copyOf(found.sealed(), NONCE);
    byte[] sealed = Arrays.copyOfRange(found.sealed(), NONCE, found.sealed().length);
    return new String(apply(Cipher.DECRYPT_MODE, nonce, sealed), StandardCharsets.UTF_8);
  }

  private boolean isExpired(SealedCredential credential) {
    return clock.millis() >= credential.untilMillis();
  }

  private byte[] apply(int mode, byte[] nonce, byte[] text) {
    try {
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
      return cipher.doFinal(text);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("AES-GCM is not available", e);
    }
  }
}
