package dev.mcpbridge.config;

import java.util.List;
import java.util.Set;

/** The API keys. Without keys, every client that can reach the listener is trusted. */
public record AuthConfig(List<Key> keys) {

  /**
   * @param sha256 SHA-256 of the key in lower-case hexadecimal
   * @param scopes any of {@code read}, {@code call}, {@code approve}, {@code admin}
   */
  public record Key(String name, String sha256, Set<String> scopes) {}
}
