package dev.mcpbridge.call;

import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.model.ServerId;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Credentials of callers for upstream APIs, each for one principal and one server, until it
 * expires; known to all nodes of a cluster. Encrypted (AES-GCM, NIST SP 800-38D), so that a heap
 * dump does not contain them in plain text. Confined to its verticle.
 */
public final class UpstreamCredentials {
  private static final int NONCE = 12;
  private static final int TAG_BITS = 128;

  private final SecureRandom random = new SecureRandom();
  private final SecretKey key;
  private final SharedMap credentials;

  /**
   * @param key 32 bytes
   * @param credentials a map that holds nothing else
   */
  public UpstreamCredentials(byte[] key, SharedMap credentials) {
    this.key = new SecretKeySpec(key, "AES");
    this.credentials = credentials;
  }

  private static String name(String principal, ServerId server) {
    return server.name() + ' ' + principal;
  }

  /** Stores a credential. The result is false if the limit is reached. */
  public Future<Boolean> put(String principal, ServerId server, String authorization, long millis) {
    byte[] nonce = new byte[NONCE];
    random.nextBytes(nonce);
    byte[] sealed =
        apply(Cipher.ENCRYPT_MODE, nonce, authorization.getBytes(StandardCharsets.UTF_8));
    byte[] both = ByteBuffer.allocate(NONCE + sealed.length).put(nonce).put(sealed).array();
    return put(name(principal, server), both, millis);
  }

  private Future<Boolean> put(String name, byte[] sealed, long millis) {
    return credentials
        .put(name, credentials.cached(name).version(), sealed, millis, Eviction.NEVER)
        .compose(
            change ->
                change.isDone() || change.isFull()
                    ? Future.succeededFuture(change.isDone())
                    : put(name, sealed, millis));
  }

  public Future<Void> remove(String principal, ServerId server) {
    String name = name(principal, server);
    return credentials
        .get(name)
        .compose(
            item ->
                item.isPresent()
                    ? credentials.remove(name, item.version()).mapEmpty()
                    : Future.succeededFuture());
  }

  /** The credential; null if absent or expired. */
  String of(String principal, ServerId server) {
    Item found = credentials.cached(name(principal, server));
    if (!found.isPresent()) {
      return null;
    }
    byte[] nonce = Arrays.copyOf(found.value(), NONCE);
    byte[] sealed = Arrays.copyOfRange(found.value(), NONCE, found.value().length);
    return new String(apply(Cipher.DECRYPT_MODE, nonce, sealed), StandardCharsets.UTF_8);
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
