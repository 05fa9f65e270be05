package dev.mcpbridge.oauth;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.transport.RequestAuthorization;
import io.vertx.core.Future;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Authorizes requests with what a caller has granted. Until the server refuses a request, nothing
 * is sent: it may need no credential. Tokens are refreshed before they expire, by one node at a
 * time: it marks the grant first, and the others wait. Confined to the event loop.
 */
final class CallerAuthorization implements RequestAuthorization {
  private static final long WAIT_MILLIS = 100;
  private static final long PAUSE_MILLIS = 30_000;

  private final OAuthClient client;
  private final Supplier<Optional<String>> principal;
  private final String usedBy;

  private Future<Grant> refreshing = Future.failedFuture("not refreshed");

  /** When a token that is still valid is refreshed again, after the server could not do it. */
  private long pausedUntilMillis;

  /**
   * @param principal whose grant is used; empty if no caller has one
   * @param usedBy the client of the caller, which its user must have agreed to; null for none
   */
  CallerAuthorization(OAuthClient client, Supplier<Optional<String>> principal, String usedBy) {
    this.client = client;
    this.principal = principal;
    this.usedBy = usedBy;
  }

  @Override
  public Future<String> header() {
    Optional<String> whose = principal.get();
    Grant known = whose.map(client.grants()::known).map(Grants.Kept::grant).orElse(null);
    if (known == null) {
      return client.isProtected()
          ? Future.failedFuture(client.consentRequired())
          : Future.succeededFuture();
    }
    return known.isFor(usedBy) && isUsable(known, System.currentTimeMillis())
        ? Future.succeededFuture(known.header())
        : usable(whose.get(), null).map(Grant::header);
  }

  /** A token that is still valid is used while it cannot be refreshed, or another node does it. */
  private boolean isUsable(Grant grant, long millis) {
    boolean isLeft = millis < pausedUntilMillis || grant.isBeingRefreshed(millis);
    return grant.isFresh(millis) || isLeft && !grant.isExpired(millis);
  }

  @Override
  public Future<Void> refused(Refusal refusal) {
    Challenge challenge = Challenge.of(refusal.challenges());
    Optional<String> whose = principal.get();
    if (refusal.status() == 403 && whose.isPresent()) {
      return Future.failedFuture(client.scopeRequired(whose.get(), challenge.scope()));
    }
    client.learn(challenge);
    return whose.isEmpty()
        ? Future.failedFuture(client.consentRequired())
        : usable(whose.get(), refusal).mapEmpty();
  }

  /**
   * A grant whose token can be sent.
   *
   * @param refusal null if nothing was refused
   */
  private Future<Grant> usable(String whose, Refusal refusal) {
    if (!refreshing.isComplete()) {
      return refreshing;
    }
    refreshing = fresh(whose, refusal);
    return refreshing;
  }

  private Future<Grant> fresh(String whose, Refusal refusal) {
    return client
        .grants()
        .of(whose)
        .compose(
            kept -> {
              long now = System.currentTimeMillis();
              Grant grant = kept.grant();
              if (grant == null) {
                return Future.failedFuture(client.consentRequired());
              }
              if (!grant.isFor(usedBy)) {
                return Future.failedFuture(client.clientUnknown(usedBy, grant));
              }
              boolean isRefused = refusal != null && grant.header().equals(refusal.sent());
              if (!isRefused && isUsable(grant, now)) {
                return Future.succeededFuture(grant);
              }
              if (grant.isBeingRefreshed(now)) {
                return client.later(WAIT_MILLIS).compose(v -> fresh(whose, refusal));
              }
              if (isRefused && refusal.isRepeated()) {
                return end(whose, kept.version());
              }
              if (grant.isRefreshable()) {
                Grant marked = grant.refreshing(now);
                return client
                    .grants()
                    .put(whose, kept.version(), marked)
                    .compose(
                        isMine ->
                            isMine ? refresh(whose, marked, isRefused) : fresh(whose, refusal));
              }
              return isRefused || grant.isExpired(now)
                  ? end(whose, kept.version())
                  : Future.succeededFuture(grant);
            });
  }

  /** Forgets a grant that can no longer be used, unless it was replaced. */
  private Future<Grant> end(String whose, long version) {
    return client
        .grants()
        .remove(whose, version)
        .compose(
            isRemoved ->
                isRemoved ? Future.failedFuture(client.consentRequired()) : fresh(whose, null));
  }

  /** Refreshes a grant that this node has marked. */
  private Future<Grant> refresh(String whose, Grant grant, boolean isRefused) {
    return client
        .refreshed(grant)
        .compose(renewed -> replace(whose, grant, renewed))
        .recover(failure -> unrefreshed(whose, grant, isRefused, failure));
  }

  /** A grant that was deleted or given anew meanwhile wins; the renewed tokens are revoked. */
  private Future<Grant> replace(String whose, Grant marked, Grant renewed) {
    return client
        .grants()
        .of(whose)
        .compose(
            kept ->
                marked.equals(kept.grant())
                    ? client.grants().put(whose, kept.version(), renewed)
                    : Future.succeededFuture(false))
        .compose(
            isStored ->
                isStored
                    ? Future.succeededFuture(renewed)
                    : client.revoked(renewed).compose(revoked -> fresh(whose, null)));
  }

  private Future<Grant> unrefreshed(
      String whose, Grant grant, boolean isRefused, Throwable failure) {
    client.forgetUnknownClient(grant.terms().client(), failure);
    boolean isOver =
        failure instanceof TokenEndpoint.Refused refusal
            && (refusal.isGrantInvalid() || refusal.isClientInvalid());
    return client
        .grants()
        .of(whose)
        .compose(
            kept -> {
              boolean isSame =
                  kept.grant() != null
                      && grant.tokens().refresh().equals(kept.grant().tokens().refresh());
              if (!isSame) {
                return fresh(whose, null);
              }
              pausedUntilMillis = System.currentTimeMillis() + PAUSE_MILLIS;
              if (isOver) {
                return end(whose, kept.version());
              }
              return client
                  .grants()
                  .put(whose, kept.version(), grant.notRefreshing())
                  .compose(
                      unmarked ->
                          isRefused || grant.isExpired(System.currentTimeMillis())
                              ? Future.failedFuture(unreachable(failure))
                              : Future.succeededFuture(grant));
            });
  }

  private BridgeException unreachable(Throwable failure) {
    return new BridgeException(
        ErrorCode.ISSUER_UNAVAILABLE,
        "The token for server '"
            + client.server()
            + "' cannot be renewed: "
            + failure.getMessage());
  }
}
