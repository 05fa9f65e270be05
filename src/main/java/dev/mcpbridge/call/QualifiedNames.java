package dev.mcpbridge.call;

import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Sha256;
import java.nio.ByteBuffer;
import java.util.regex.Pattern;

/**
 * Names for what several servers offer together: {@code server__name}, at most 64 of {@code
 * [A-Za-z0-9_-]} and no digit at the beginning, since models' APIs take no others. What is longer,
 * has other characters, or could be read as a name of another server, is written with what may stay
 * and a hash of the whole: so a name depends on nothing but its server and its tool, and is the
 * same at every start. Stateless.
 */
final class QualifiedNames {
  private static final int MAX = 64;
  private static final int HASH = 12;
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]*");
  private static final Pattern LIKE_HASHED = Pattern.compile(".*_[0-9a-f]{12}");

  private QualifiedNames() {}

  static String of(ServerId server, String name) {
    String whole = server.name() + "__" + name;
    boolean isPlain =
        whole.length() <= MAX
            && PLAIN.matcher(whole).matches()
            && whole.indexOf("__") == server.name().length()
            && !LIKE_HASHED.matcher(whole).matches();
    return isPlain ? whole : hashed(server, name, whole);
  }

  private static String hashed(ServerId server, String name, String whole) {
    String readable = whole.replaceAll("[^A-Za-z0-9_-]", "_").replaceFirst("^(?=[0-9-])", "_");
    String hash = hash(server.name() + '\0' + name);
    return readable.substring(0, Math.min(readable.length(), MAX - HASH - 1)) + "_" + hash;
  }

  /** Of the chars themselves: UTF-8 has one and the same byte for every lone surrogate. */
  private static String hash(String text) {
    ByteBuffer utf16 = ByteBuffer.allocate(text.length() * Character.BYTES);
    utf16.asCharBuffer().put(text);
    return new Sha256().add(utf16.array()).hex(HASH);
  }
}
