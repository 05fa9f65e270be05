package dev.mcpbridge.auth;

import java.util.Optional;

/** Tells who presents a credential. */
public interface Authenticator {

  /**
   * @param credential the bearer token or API key; null where none came
   * @return empty where it proves nobody
   */
  Optional<Principal> authenticate(String credential);

  /** Whether somebody that was let in would still be let in, with the same scopes. */
  boolean knows(Principal principal);

  /** Trusts everybody who reaches the listener. */
  static Authenticator none() {
    return new Authenticator() {
      @Override
      public Optional<Principal> authenticate(String credential) {
        return Optional.of(Principal.ANONYMOUS);
      }

      @Override
      public boolean knows(Principal principal) {
        return principal == Principal.ANONYMOUS;
      }
    };
  }
}
