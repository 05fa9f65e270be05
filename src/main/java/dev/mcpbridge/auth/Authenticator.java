package dev.mcpbridge.auth;

import java.util.Optional;

/** Authenticates callers by their credentials. */
public interface Authenticator {

  /**
   * @param credential the bearer token or API key; null if absent
   * @return empty if the credential is invalid
   */
  Optional<Principal> authenticate(String credential);

  /** Whether an authenticated principal is still valid, with the same scopes. */
  boolean isValid(Principal principal);

  /** Accepts every request as {@link Principal#ANONYMOUS}. */
  static Authenticator none() {
    return new Authenticator() {
      @Override
      public Optional<Principal> authenticate(String credential) {
        return Optional.of(Principal.ANONYMOUS);
      }

      @Override
      public boolean isValid(Principal principal) {
        return principal == Principal.ANONYMOUS;
      }
    };
  }
}
