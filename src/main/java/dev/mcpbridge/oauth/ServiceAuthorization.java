package dev.mcpbridge.oauth;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.transport.RequestAuthorization;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import java.util.ArrayList;
import java.util.List;

/**
 * Authorizes requests with the bridge's own credentials (RFC 6749 section 4.4). The token is kept
 * in memory. Confined to the event loop.
 */
final class ServiceAuthorization implements RequestAuthorization {
  private final OAuthClient client;
  private Future<Grant> current = Future.succeededFuture();

  ServiceAuthorization(OAuthClient client) {
    this.client = client;
  }

  @Override
  public Future<String> header() {
    if (!current.isComplete()) {
      return current.map(Grant::header);
    }
    Grant known = current.succeeded() ? current.result() : null;
    if (known == null && !client.isProtected()) {
      return Future.succeededFuture();
    }
    return known != null && known.isFresh(System.currentTimeMillis())
        ? Future.succeededFuture(known.header())
        : fetched().map(Grant::header);
  }

  @Override
  public Future<Void> refused(Refusal refusal) {
    client.learn(Challenge.of(refusal.challenges()));
    boolean isNewer =
        current.succeeded()
            && current.result() != null
            && !current.result().header().equals(refusal.sent());
    return isNewer ? Future.succeededFuture() : fetched().mapEmpty();
  }

  private Future<Grant> granted() {
    return client
        .discovered()
        .compose(
            found -> {
              Registration registration = Registration.of(client.config().client(), found.issuer());
              Grant.Terms terms = client.terms(found, registration, null);
              MultiMap form =
                  MultiMap.caseInsensitiveMultiMap().add("grant_type", "client_credentials");
              List<String> scopes = new ArrayList<>(terms.scopes());
              scopes.remove("offline_access");
              if (!scopes.isEmpty()) {
                form.add("scope", String.join(" ", scopes));
              }
              OAuthClient.addResource(form, terms.resource());
              return client
                  .tokens()
                  .request(terms.tokenEndpoint(), registration, form)
                  .map(received -> Grant.of(terms, received));
            });
  }

  private Future<Grant> fetched() {
    if (current.isComplete()) {
      current =
          granted()
              .recover(
                  failure ->
                      Future.failedFuture(
                          new BridgeException(
                              ErrorCode.ISSUER_UNAVAILABLE,
                              "No token for server '"
                                  + client.server()
                                  + "': "
                                  + failure.getMessage())));
    }
    return current;
  }
}
