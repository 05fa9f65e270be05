package dev.mcpbridge.profile;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.Map;
import java.util.Optional;

/**
 * The profiles of the configuration. Immutable.
 *
 * @param byName in the order of the configuration
 */
public record Profiles(Map<String, Profile> byName) {
  /** The profile of a name, if there is one. */
  public Optional<Profile> find(String name) {
    return Optional.ofNullable(byName.get(name));
  }

  /**
   * @throws BridgeException PROFILE_NOT_FOUND
   */
  public Profile get(String name) {
    return find(name)
        .orElseThrow(() -> new BridgeException(ErrorCode.PROFILE_NOT_FOUND, "No such profile"));
  }
}
