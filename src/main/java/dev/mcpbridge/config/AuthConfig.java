package dev.mcpbridge.config;

import java.util.List;
import java.util.Set;

/** The API keys; with none, everybody who reaches the listener is trusted. */
public record AuthConfig(List<Key> keys) {

  /**
   * @param sha256 of the key, lower-case hexadecimal
   * @param scopes of {@code read}, {@code call}, {@code approve}, {@code admin}
   */
  public record Key(String name, String sha256, Set<String> scopes) {}
}
