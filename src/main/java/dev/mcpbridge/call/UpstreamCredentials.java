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
 * What callers have left here of their own credentials at APIs: each for one principal and one
 * server, until it expires. Kept encrypted under a key of this process (AES-GCM, NIST SP 800-38D),
 * so that a dump of the heap's texts does not show them; gone with the process. Confined to its
 * verticle.
 */
public final class UpstreamCredentials {
  private static final int MAX = 10_000;
  private static final int KEY = 32;
  private static final int NONCE = 12;
  private static final int TAG_BITS = 128;

  private final Clock clock;
  private final SecureRandom random = new SecureRandom();
  private final SecretKey key;
  private final Map<CredentialKey, SealedCredential> kept = new HashMap<>();

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

  /** Keeps one; false where there are too many. */
  public boolean put(String principal, ServerId server, String authorization, long millis) {
    kept.values().removeIf(this::isExpired);
    CredentialKey credentialKey = new CredentialKey(principal, server);
    if (kept.size() >= MAX && !kept.containsKey(credentialKey)) {
      return false;
    }
    byte[] nonce = random(NONCE);
    byte[] sealed =
        apply(Cipher.ENCRYPT_MODE, nonce, authorization.getBytes(StandardCharsets.UTF_8));
    byte[] both = ByteBuffer.allocate(NONCE + sealed.length).put(nonce).put(sealed).array();
    kept.put(credentialKey, new SealedCredential(both, clock.millis() + millis));
    return true;
  }

  public void remove(String principal, ServerId server) {
    kept.remove(new CredentialKey(principal, server));
  }

  /** Null where there is none, or not any more. */
  String of(String principal, ServerId server) {
    SealedCredential found = kept.isEmpty() ? null : kept.get(new CredentialKey(principal, server));
    if (found == null || isExpired(found)) {
      return null;
    }
    byte[] nonce = Arrays.copyOf(found.sealed(), NONCE);
    byte[] sealed = Arrays.copyOfRange(found.sealed(), NONCE, found.sealed().length);
    return new String(apply(Cipher.DECRYPT_MODE, nonce, sealed), StandardCharsets.UTF_8);
  }

  private boolean isExpired(SealedCredential one) {
    return clock.millis() >= one.untilMillis();
  }

  private byte[] apply(int mode, byte[] nonce, byte[] text) {
    try {
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
      return cipher.doFinal(text);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has AES-GCM", e);
    }
  }
}
