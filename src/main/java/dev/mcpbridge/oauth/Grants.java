package dev.mcpbridge.oauth;

import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.model.ServerId;
import io.vertx.core.Future;
import java.util.Optional;

/** The grants of callers for one server. */
final class Grants {
  private final CredentialStore store;
  private final String prefix;
  private final long idleMillis;

  /** A grant and the version of its entry. */
  record Kept(Grant grant, long version) {}

  /**
   * @param idleMillis after which an unused grant is deleted
   */
  Grants(CredentialStore store, ServerId server, long idleMillis) {
    this.store = store;
    this.prefix = "grant " + server.name() + ' ';
    this.idleMillis = idleMillis;
  }

  /** The grant of a principal, with null for an absent one; linearizable. */
  Future<Kept> of(String principal) {
    return store.get(prefix + principal).map(Grants::kept);
  }

  /** The version of the entry of a principal, as this node knows it. */
  Kept known(String principal) {
    return kept(store.known(prefix + principal));
  }

  private static Kept kept(CredentialStore.Secret secret) {
    return new Kept(secret.isPresent() ? Grant.of(secret.text()) : null, secret.version());
  }

  /** A principal with a grant. */
  Optional<String> anyCaller() {
    return store.names(prefix).stream().findFirst().map(name -> name.substring(prefix.length()));
  }

  /** Replaces the grant of the version; false if there is another by now. */
  Future<Boolean> put(String principal, long version, Grant grant) {
    return store.put(prefix + principal, version, grant.json(), idleMillis);
  }

  Future<Void> put(String principal, Grant grant) {
    return store.put(prefix + principal, grant.json(), idleMillis);
  }

  Future<Boolean> remove(String principal, long version) {
    return store.remove(prefix + principal, version);
  }
}
