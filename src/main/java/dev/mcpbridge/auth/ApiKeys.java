package dev.mcpbridge.auth;

import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.protocol.RandomIds;
import dev.mcpbridge.protocol.Sha256;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Authenticates callers by API keys, of which only the SHA-256 is configured. All keys are
 * compared, each in constant time, so that the duration reveals nothing. Without keys, every caller
 * is {@link Principal#ANONYMOUS}. Immutable.
 */
public final class ApiKeys {
  private final List<ConfiguredKey> keys;

  private record ConfiguredKey(byte[] sha256, Principal principal) {}

  public ApiKeys(AuthConfig config) {
    keys = config.keys().stream().map(ApiKeys::parse).toList();
  }

  /**
   * @param credential the bearer token or API key; null if absent
   * @return empty if the credential is invalid
   */
  public Optional<Principal> authenticate(String credential) {
    if (keys.isEmpty()) {
      return Optional.of(Principal.ANONYMOUS);
    }
    if (credential == null) {
      return Optional.empty();
    }
    byte[] hash = Sha256.of(credential).bytes();
    Principal found = null;
    for (ConfiguredKey key : keys) {
      if (MessageDigest.isEqual(key.sha256(), hash)) {
        found = key.principal();
      }
    }
    return Optional.ofNullable(found);
  }

  /** Whether an authenticated principal is still valid, with the same scopes. */
  public boolean isValid(Principal principal) {
    return keys.isEmpty()
        ? principal == Principal.ANONYMOUS
        : keys.stream().anyMatch(key -> key.principal().equals(principal));
  }

  /** A new key: 256 random bits. */
  public static String generate() {
    return "mcpb_" + RandomIds.hex(32);
  }

  /** The SHA-256 of a key, for the configuration. */
  public static String fingerprint(String key) {
    return Sha256.of(key).hex();
  }

  private static ConfiguredKey parse(AuthConfig.Key key) {
    return new ConfiguredKey(
        HexFormat.of().parseHex(key.sha256()),
        new Principal(
            key.name(),
            key.scopes().stream()
                .map(scope -> Scope.valueOf(scope.toUpperCase(Locale.ROOT)))
                .collect(Collectors.toUnmodifiableSet())));
  }
}
