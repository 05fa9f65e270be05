package dev.mcpbridge.call;

import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Sha256;
import java.nio.ByteBuffer;
import java.util.regex.Pattern;

/**
 * Names for tools and prompts in a catalogue of several servers: {@code server__name}, at most 64
 * characters of {@code [A-Za-z0-9_-]} without a leading digit, since the APIs of models accept no
 * others. A name that is longer, has other characters, or could be parsed as a name of another
 * server, is replaced by its allowed characters and a hash. A name therefore depends only on its
 * server and its tool, and is the same at every start. Stateless.
 */
final class QualifiedNames {
  private static final int MAX = 64;
  private static final int HASH = 12;
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]*");
  private static final Pattern LIKE_HASHED = Pattern.compile(".*_[0-9a-f]{12}");

  private QualifiedNames() {}

  static String of(ServerId server, String name) {
    String full = server.name() + "__" + name;
    boolean isPlain =
        full.length() <= MAX
            && PLAIN.matcher(full).matches()
            && full.indexOf("__") == server.name().length()
            && !LIKE_HASHED.matcher(full).matches();
    return isPlain ? full : hashed(server, name, full);
  }

  private static String hashed(ServerId server, String name, String full) {
    String readable = full.replaceAll("[^A-Za-z0-9_-]", "_").replaceFirst("^(?=[0-9-])", "_");
    String hash = hash(server.name() + '\0' + name);
    return readable.substring(0, Math.min(readable.length(), MAX - HASH - 1)) + "_" + hash;
  }

  /** Hashes the UTF-16 code units, because UTF-8 encodes every lone surrogate as the same byte. */
  private static String hash(String text) {
    ByteBuffer utf16 = ByteBuffer.allocate(text.length() * Character.BYTES);
    utf16.asCharBuffer().put(text);
    return new Sha256().add(utf16.array()).hex(HASH);
  }
}
