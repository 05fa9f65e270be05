package dev.mcpbridge.cluster.trust;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Keys derived from the shared secret of a cluster: HMAC-SHA-256 of a label yields each key. A
 * secret that could be guessed is stretched first, by PBKDF2 (RFC 8018), which takes half a second
 * in a new JVM; one of 64 hexadecimal digits, 256 random bits, is not. Immutable.
 */
public final class ClusterKeys {
  private static final int ITERATIONS = 100_000;
  private static final byte[] SALT = "mcp-bridge cluster".getBytes(StandardCharsets.UTF_8);

  private static final Pattern RANDOM = Pattern.compile("[0-9a-f]{64}");

  private final SecretKeySpec root;

  public ClusterKeys(String secret) {
    boolean isRandom = RANDOM.matcher(secret).matches();
    byte[] key = isRandom ? HexFormat.of().parseHex(secret) : stretched(secret);
    this.root = new SecretKeySpec(key, "HmacSHA256");
  }

  private static byte[] stretched(String secret) {
    try {
      PBEKeySpec spec = new PBEKeySpec(secret.toCharArray(), SALT, ITERATIONS, 256);
      return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** 32 bytes for one purpose. */
  public byte[] key(String purpose) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(root);
      return mac.doFinal(purpose.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Shows another node that this one has the same secret, within a connection that is private. */
  public byte[] fingerprint() {
    return Arrays.copyOf(key("fingerprint"), 16);
  }

  /** The password of the bridge's user in the coordination store. */
  public String storePassword() {
    return HexFormat.of().formatHex(key("store password"));
  }

  /** Encrypts what is written to the coordination store. */
  public Seal seal() {
    return new Seal(key("seal"));
  }

  /** The certificate authority of nodes without certificates of their own. */
  public Authority authority() {
    return Authority.ofSeed(key("authority"));
  }
}
