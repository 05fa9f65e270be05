package dev.mcpbridge.http.connect;

import dev.mcpbridge.call.ConsentTicket;
import dev.mcpbridge.call.ConsentTickets;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.credentials.UpstreamCredentials;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.model.ServerId;
import io.vertx.core.Future;
import java.net.URI;
import java.util.function.Supplier;

/**
 * Credentials for APIs that users get at a page of the API ({@code authUrl}) and enter at the
 * consent page, so that neither a model nor its conversation sees them.
 */
record EnteredCredentials(
    ConsentTickets tickets, UpstreamCredentials stored, Supplier<BridgeConfig> config) {

  /** Where users get a credential for a server; null if they enter none. */
  URI source(ServerId server) {
    ServerConfig entry = config.get().servers().get(server);
    return entry != null
            && entry.upstreamTarget() instanceof OpenApiSource api
            && api.oauth() == null
        ? api.authUrl()
        : null;
  }

  /** What is sent as Authorization; null for a text that cannot be. */
  static String authorization(String entered) {
    String text = entered == null ? "" : entered.strip();
    String value = text.indexOf(' ') < 0 ? "Bearer " + text : text;
    return !text.isEmpty() && Callers.isAuthorization(value) ? value : null;
  }

  /**
   * Uses a ticket, and keeps the credential for its principal.
   *
   * @param secret of the link
   */
  Future<Void> keep(String secret, ConsentTicket ticket, String authorization) {
    if (authorization == null) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.FORBIDDEN, "The server asks for a credential now. Open the link again"));
    }
    long idleMillis = config.get().credentials().idleMillis();
    return tickets
        .use(secret)
        .compose(used -> stored.put(ticket.principal(), ticket.server(), authorization, idleMillis))
        .compose(kept -> tickets.given(ticket));
  }
}
