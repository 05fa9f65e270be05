package dev.mcpbridge.oauth;

import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import io.vertx.core.Future;

/**
 * The MCP clients with which users have agreed to use their grants. An access token of the same
 * user that another client has got uses none of them until the user has agreed to that client too
 * (confused deputy, MCP basic/security best practices). Callers with an API key have no client.
 * Confined to the event loop.
 */
public record GrantedClients(CredentialStore store) {

  /**
   * Succeeds if a caller may use its grant for a server, or has none. Fails with CONSENT_REQUIRED
   * for a client to which the user has not agreed.
   */
  public Future<Void> permit(Principal caller, ServerId server) {
    if (caller.token() == null) {
      return Future.succeededFuture();
    }
    String name = Grants.name(server, caller.name());
    return isPermitted(store.known(name), caller)
        ? Future.succeededFuture()
        : store
            .get(name)
            .compose(
                newest ->
                    isPermitted(newest, caller)
                        ? Future.succeededFuture()
                        : Future.failedFuture(
                            new AuthorizationFailures(server)
                                .clientUnknown(
                                    caller.token().client(),
                                    Grant.of(newest.text()).terms().scopes())));
  }

  private static boolean isPermitted(CredentialStore.Secret kept, Principal caller) {
    return !kept.isPresent() || Grant.of(kept.text()).isFor(caller.token().clientName());
  }
}
