package dev.mcpbridge.credentials;

import dev.mcpbridge.cluster.trust.Seal;
import dev.mcpbridge.config.CredentialsConfig;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The keys that seal credentials. A sealed value begins with the length and the id of its key, so
 * that values of an earlier key can be opened. Immutable.
 */
public final class SealingKeys {
  private final String newest;
  private final Map<String, Seal> seals;

  private SealingKeys(String newest, Map<String, Seal> seals) {
    this.newest = newest;
    this.seals = seals;
  }

  /**
   * @param own used if no keys are configured
   */
  public static SealingKeys of(CredentialsConfig config, byte[] own) {
    Map<String, Seal> seals = new LinkedHashMap<>();
    config
        .keys()
        .forEach(
            key ->
                seals.put(key.id(), new Seal(Base64.getDecoder().decode(key.base64().reveal()))));
    return seals.isEmpty() ? own(own) : new SealingKeys(seals.keySet().iterator().next(), seals);
  }

  /** Only the key of the bridge. */
  static SealingKeys own(byte[] key) {
    return new SealingKeys("", Map.of("", new Seal(key)));
  }

  byte[] seal(String name, byte[] text) {
    byte[] id = newest.getBytes(StandardCharsets.US_ASCII);
    byte[] sealed = seals.get(newest).seal(name(name), text);
    return ByteBuffer.allocate(1 + id.length + sealed.length)
        .put((byte) id.length)
        .put(id)
        .put(sealed)
        .array();
  }

  boolean isSealedWithNewest(byte[] value) {
    return newest.equals(idOf(value));
  }

  /** Null if the value was sealed with an unknown key or for another name, or was changed. */
  byte[] open(String name, byte[] value) {
    Seal seal = seals.get(idOf(value));
    if (seal == null) {
      return null;
    }
    try {
      return seal.open(name(name), Arrays.copyOfRange(value, 1 + value[0], value.length));
    } catch (GeneralSecurityException e) {
      return null;
    }
  }

  /** The id of the key that sealed a value; null if the value is malformed. */
  static String idOf(byte[] value) {
    return value.length == 0 || value[0] < 0 || value.length < 1 + value[0]
        ? null
        : new String(value, 1, value[0], StandardCharsets.US_ASCII);
  }

  private static byte[] name(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }
}
