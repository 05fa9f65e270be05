package dev.mcpbridge.call;

import dev.mcpbridge.model.ServerId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Names for what several servers offer together: {@code server__name}, at most 64 characters, since
 * models' APIs take no more. What is longer is cut and told apart by a hash of the whole name, so
 * that it is the same at every start. Stateless.
 */
final class QualifiedNames {
  private static final int MAX = 64;
  private static final int HASH = 8;

  private QualifiedNames() {}

  static String of(ServerId server, String name) {
    String whole = server.name() + "__" + name;
    return whole.length() <= MAX ? whole : hashed(server, name);
  }

  /** The form with the hash, for a name that is too long or taken. */
  static String hashed(ServerId server, String name) {
    String whole = server.name() + "__" + name;
    String hash = hash(server.name() + '\0' + name);
    return whole.substring(0, Math.min(whole.length(), MAX - HASH - 1)) + "_" + hash;
  }

  private static String hash(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, HASH / 2);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
