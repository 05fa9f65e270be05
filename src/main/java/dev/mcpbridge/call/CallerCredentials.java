package dev.mcpbridge.call;

import dev.mcpbridge.credentials.UpstreamCredentials;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.oauth.TokenExchange;
import io.vertx.core.Future;

/**
 * The credential of a caller for a server, as far as the node decides that has received the call:
 * sent with the call, stored before, or exchanged for the caller's token.
 */
public record CallerCredentials(
    UpstreamCredentials stored, TokenExchange exchange, ConsentTickets consents) {

  /**
   * The caller with its credential, if it has one. What callers send or store is for APIs; an MCP
   * server gets none of it.
   */
  Future<Caller> of(Caller caller, ServerId server) {
    if (exchange.isForMcp(server)) {
      return exchange.exchanged(caller, server);
    }
    if (caller.authorization() != null) {
      return Future.succeededFuture(caller);
    }
    String kept = stored.of(caller.name(), server);
    if (kept != null) {
      return Future.succeededFuture(caller.withAuthorization(kept));
    }
    return exchange.isFor(server)
        ? exchange.exchanged(caller, server)
        : Future.succeededFuture(caller);
  }

  /** Whether a credential came with the call; that of an approved call may be another one. */
  private boolean hasSent(Caller caller, ServerId server) {
    return caller.authorization() != null
        && !caller.authorization().equals(stored.of(caller.name(), server))
        && !exchange.hasIssued(caller.authorization());
  }

  /** A failure with what its caller can do: open a link, or get another token. */
  <T> Future<T> explained(Caller caller, ServerId server, Throwable failure) {
    boolean isRefusal =
        failure instanceof BridgeException known && known.code() == ErrorCode.CONSENT_REQUIRED;
    if (isRefusal && exchange.isForApi(server) && hasSent(caller, server)) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.UPSTREAM_ERROR, "The API refuses the credential that its caller sent"));
    }
    if (!isRefusal || !exchange.isFor(server)) {
      return consents.explained(caller.principal(), server, failure);
    }
    exchange.forget(caller, server);
    return Future.failedFuture(
        new BridgeException(
            ErrorCode.FORBIDDEN,
            "Server '" + server + "' refuses the token that was issued for its caller"));
  }
}
