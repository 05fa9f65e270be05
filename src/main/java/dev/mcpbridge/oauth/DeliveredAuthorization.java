package dev.mcpbridge.oauth;

import dev.mcpbridge.transport.RequestAuthorization;
import io.vertx.core.Future;

/**
 * Authorizes requests with the token that came with the caller's last call. Confined to the event
 * loop.
 */
final class DeliveredAuthorization implements RequestAuthorization {
  private final OAuthClient client;
  private String header;

  DeliveredAuthorization(OAuthClient client) {
    this.client = client;
  }

  void deliver(String authorization) {
    header = authorization;
  }

  @Override
  public Future<String> header() {
    return header == null
        ? Future.failedFuture(client.consentRequired())
        : Future.succeededFuture(header);
  }

  /** Only the caller's next call brings another token. */
  @Override
  public Future<Void> refused(Refusal refusal) {
    return header != null && !header.equals(refusal.sent())
        ? Future.succeededFuture()
        : Future.failedFuture(client.consentRequired());
  }
}
