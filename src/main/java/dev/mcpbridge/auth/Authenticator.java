package dev.mcpbridge.auth;

import java.util.Optional;

/** Tells who presents a credential. */
public interface Authenticator {

  /**
   * @param credential the bearer token or API key; null where none came
   * @return empty where it proves nobody
   */
  Optional<Principal> authenticate(String credential);

  /** Trusts everybody who reaches the listener. */
  static Authenticator none() {
    return credential -> Optional.of(Principal.ANONYMOUS);
  }
}
