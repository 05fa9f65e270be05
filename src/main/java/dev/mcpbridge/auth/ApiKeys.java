package dev.mcpbridge.auth;

import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.protocol.RandomIds;
import dev.mcpbridge.protocol.Sha256;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Authenticates callers by API keys, of which only the SHA-256 is configured. All keys are
 * compared, each in constant time, so that the duration reveals nothing. Immutable.
 */
public final class ApiKeys {
  private static final String PREFIX = "mcpb_";

  private final List<ConfiguredKey> keys;

  private record ConfiguredKey(byte[] sha256, Identity identity) {}

  ApiKeys(List<AuthConfig.Key> keys) {
    this.keys = keys.stream().map(ApiKeys::parse).toList();
  }

  /**
   * The identity that a key proves; empty if there is no such key.
   *
   * @param hash SHA-256 of the key
   */
  Optional<Identity> find(byte[] hash) {
    Identity found = null;
    for (ConfiguredKey key : keys) {
      if (MessageDigest.isEqual(key.sha256(), hash)) {
        found = key.identity();
      }
    }
    return Optional.ofNullable(found);
  }

  /** Whether a principal still has a key with the same scopes and roles. */
  boolean isValid(Principal principal) {
    return keys.stream().anyMatch(key -> key.identity().principal().equals(principal));
  }

  /** The principal of a key with the rights that it has now; empty if there is no such key. */
  Optional<Principal> named(String name) {
    return keys.stream()
        .map(key -> key.identity().principal())
        .filter(principal -> principal.name().equals(name))
        .findFirst();
  }

  /** A new key: 256 random bits. */
  public static String generate() {
    return PREFIX + RandomIds.hex(32);
  }

  /** Whether a credential has the form of a generated key, which is for the bridge alone. */
  static boolean isLike(String credential) {
    return credential.startsWith(PREFIX);
  }

  /** The SHA-256 of a key, for the configuration. */
  public static String fingerprint(String key) {
    return Sha256.of(key).hex();
  }

  private static ConfiguredKey parse(AuthConfig.Key key) {
    Principal principal =
        new Principal(
            key.name(),
            key.scopes().stream().map(Scope::of).collect(Collectors.toUnmodifiableSet()),
            key.roles(),
            null);
    return new ConfiguredKey(HexFormat.of().parseHex(key.sha256()), Identity.everywhere(principal));
  }
}
