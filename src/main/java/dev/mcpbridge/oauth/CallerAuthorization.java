package dev.mcpbridge.oauth;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.transport.RequestAuthorization;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Authorizes requests with what a caller has granted. Until the server refuses a request, nothing
 * is sent: it may need no credential. Tokens are refreshed before they expire, by one node at a
 * time: it marks the grant first, and the others wait. Confined to the event loop.
 */
final class CallerAuthorization implements RequestAuthorization {
  private static final long WAIT_MILLIS = 100;

  private final OAuthClient client;
  private final Supplier<Optional<String>> principal;

  /** What a refresh after a refusal has led to; a server that refuses that too needs a consent. */
  private String renewedHeader;

  private int renewedUses;

  private Future<Grant> refreshing = Future.failedFuture("not refreshed");

  /**
   * @param principal whose grant is used; empty if no caller has one
   */
  CallerAuthorization(OAuthClient client, Supplier<Optional<String>> principal) {
    this.client = client;
    this.principal = principal;
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
    return known.isFresh(System.currentTimeMillis())
        ? Future.succeededFuture(used(known))
        : usable(whose.get(), null).map(this::used);
  }

  private String used(Grant grant) {
    if (grant.header().equals(renewedHeader)) {
      renewedUses++;
    }
    return grant.header();
  }

  @Override
  public Future<Void> refused(String sent, int status, List<String> challenges) {
    Challenge challenge = Challenge.of(challenges);
    Optional<String> whose = principal.get();
    if (status == 403 && whose.isPresent()) {
      return Future.failedFuture(client.scopeRequired(whose.get(), challenge.scope()));
    }
    client.learn(challenge);
    return whose.isEmpty()
        ? Future.failedFuture(client.consentRequired())
        : usable(whose.get(), sent).mapEmpty();
  }

  /**
   * A grant whose token can be sent.
   *
   * @param refusedHeader what the server has refused; null for nothing
   */
  private Future<Grant> usable(String whose, String refusedHeader) {
    if (!refreshing.isComplete()) {
      return refreshing;
    }
    refreshing = fresh(whose, refusedHeader);
    return refreshing;
  }

  private Future<Grant> fresh(String whose, String refusedHeader) {
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
              boolean isRefused = grant.header().equals(refusedHeader);
              if (!isRefused && grant.isFresh(now)) {
                return Future.succeededFuture(grant);
              }
              if (grant.isBeingRefreshed(now)) {
                return client.later(WAIT_MILLIS).compose(v -> fresh(whose, refusedHeader));
              }
              if (isRefused && refusedHeader.equals(renewedHeader) && renewedUses <= 1) {
                return end(whose, kept.version());
              }
              if (grant.isRefreshable()) {
                return client
                    .grants()
                    .put(whose, kept.version(), grant.refreshing(now))
                    .compose(
                        isMine ->
                            isMine
                                ? refresh(whose, grant, isRefused)
                                : fresh(whose, refusedHeader));
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
        .compose(renewed -> client.grants().put(whose, renewed).map(renewed))
        .onSuccess(
            renewed -> {
              renewedHeader = isRefused ? renewed.header() : null;
              renewedUses = 0;
            })
        .recover(failure -> unrefreshed(whose, grant, isRefused, failure));
  }

  private Future<Grant> unrefreshed(
      String whose, Grant grant, boolean isRefused, Throwable failure) {
    boolean isOver = failure instanceof TokenEndpoint.Refused refusal && refusal.isGrantInvalid();
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
