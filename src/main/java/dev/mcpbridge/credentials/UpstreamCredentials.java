package dev.mcpbridge.credentials;

import dev.mcpbridge.model.ServerId;
import io.vertx.core.Future;

/**
 * Credentials that callers stored for APIs behind the bridge, each for one principal and one
 * server, until it expires.
 */
public record UpstreamCredentials(CredentialStore store) {

  private static String name(String principal, ServerId server) {
    return "stored " + server.name() + ' ' + principal;
  }

  /**
   * Stores a credential. Fails with OVERLOADED if there is no room.
   *
   * @param authorization value of the header Authorization
   */
  public Future<Void> put(String principal, ServerId server, String authorization, long millis) {
    return store.put(name(principal, server), authorization, millis);
  }

  public Future<Void> remove(String principal, ServerId server) {
    return store.remove(name(principal, server));
  }

  /** The credential; null if absent or expired. */
  public String of(String principal, ServerId server) {
    return store.known(name(principal, server)).text();
  }
}
