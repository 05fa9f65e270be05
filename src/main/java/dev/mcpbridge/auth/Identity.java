package dev.mcpbridge.auth;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.model.Principal;
import java.util.Set;

/**
 * What a credential proves: who calls, and at which URLs of the bridge it is valid.
 *
 * @param audiences resource identifiers without trailing slash; null if it is valid everywhere
 */
public record Identity(Principal principal, Set<String> audiences) {

  static Identity everywhere(Principal principal) {
    return new Identity(principal, null);
  }

  /** Whether the credential is valid everywhere, as keys are. */
  public boolean isForAll() {
    return audiences == null;
  }

  /** Whether the credential is valid at a resource (RFC 9728 section 1.2). */
  public boolean isFor(String resource) {
    return audiences == null || audiences.contains(resource);
  }

  /** The failure of a request to a resource that the credential is not for. */
  public static BridgeException wrongAudience() {
    return Rejection.WRONG_AUDIENCE.failure();
  }
}
