package dev.mcpbridge.oauth;

import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.model.ServerId;
import io.vertx.core.Future;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;

/** The grants of callers for one server. */
final class Grants {
  private static final long SEARCH_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final CredentialStore store;
  private final String prefix;
  private final long idleMillis;
  private final BiPredicate<String, Grant.Terms> isUsable;

  /** The principal that {@link #anyCaller} returned last; null for none. */
  private String anyCaller;

  private long nextSearchNanos = System.nanoTime();

  /** A grant and the version of its entry. */
  record Kept(Grant grant, long version) {}

  /**
   * @param idleMillis after which an unused grant is deleted
   * @param isUsable whether a principal may still use what was granted on some terms; if not, it
   *     counts as absent
   */
  Grants(
      CredentialStore store,
      ServerId server,
      long idleMillis,
      BiPredicate<String, Grant.Terms> isUsable) {
    this.store = store;
    this.prefix = "grant " + server.name() + ' ';
    this.idleMillis = idleMillis;
    this.isUsable = isUsable;
  }

  /** The grant of a principal, with null for an absent one; linearizable. */
  Future<Kept> of(String principal) {
    return store.get(prefix + principal).map(secret -> kept(principal, secret));
  }

  /** The version of the entry of a principal, as this node knows it. */
  Kept known(String principal) {
    return kept(principal, store.known(prefix + principal));
  }

  private Kept kept(String principal, CredentialStore.Secret secret) {
    Grant grant = secret.isPresent() ? Grant.of(secret.text()) : null;
    boolean isAbsent = grant == null || !isUsable.test(principal, grant.terms());
    return new Kept(isAbsent ? null : grant, secret.version());
  }

  /** A principal with a grant. All are searched through once a second at most. */
  Optional<String> anyCaller() {
    boolean isSearchDue = System.nanoTime() - nextSearchNanos >= 0;
    if (!hasGrant(anyCaller) && isSearchDue) {
      nextSearchNanos = System.nanoTime() + SEARCH_INTERVAL_NANOS;
      anyCaller =
          store.names(prefix).stream()
              .map(name -> name.substring(prefix.length()))
              .filter(this::hasGrant)
              .findFirst()
              .orElse(null);
    }
    return Optional.ofNullable(anyCaller).filter(this::hasGrant);
  }

  private boolean hasGrant(String principal) {
    return principal != null && known(principal).grant() != null;
  }

  /** Replaces the grant of the version; false if there is another by now. */
  Future<Boolean> put(String principal, long version, Grant grant) {
    return store.put(prefix + principal, version, grant.json(), idleMillis);
  }

  /**
   * Stores a new grant in place of an earlier one.
   *
   * @param client that may use it; null for a principal without one
   * @return whether that client could use an earlier one
   */
  Future<Boolean> add(String principal, String client, Grant grant) {
    return of(principal)
        .compose(
            kept -> {
              Grant earlier = kept.grant();
              boolean isAgain = earlier != null && earlier.isFor(client);
              return put(principal, kept.version(), grant.usableBy(earlier, client))
                  .compose(
                      isStored ->
                          isStored
                              ? Future.succeededFuture(isAgain)
                              : add(principal, client, grant));
            })
        .onSuccess(isAgain -> anyCaller = hasGrant(anyCaller) ? anyCaller : principal);
  }

  Future<Boolean> remove(String principal, long version) {
    return store.remove(prefix + principal, version);
  }
}
