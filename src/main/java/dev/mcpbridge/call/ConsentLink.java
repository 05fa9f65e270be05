package dev.mcpbridge.call;

import dev.mcpbridge.auth.Pkce;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import java.util.concurrent.TimeUnit;

/**
 * A link to the consent page. Immutable.
 *
 * @param secret what the link has
 * @param untilMillis until when it is given again to the same caller, on the wall clock
 */
record ConsentLink(String secret, ConsentTicket ticket, long untilMillis) {
  private static final long REUSE_MILLIS = TimeUnit.MINUTES.toMillis(5);

  /** A new link. */
  static ConsentLink issued(String owner, Principal principal, ServerId server, String scope) {
    Principal.Token token = principal.token();
    return new ConsentLink(
        Pkce.random(),
        new ConsentTicket(
            owner + '.' + Pkce.random(),
            principal.name(),
            token == null ? null : token.issuer(),
            token == null ? null : token.client(),
            server,
            scope,
            Pkce.random()),
        System.currentTimeMillis() + REUSE_MILLIS);
  }

  /** The same link, which also asks for this scope. */
  ConsentLink asking(String scope) {
    ConsentTicket wider = ticket.asking(scope);
    return wider.equals(ticket) ? this : new ConsentLink(secret, wider, untilMillis);
  }
}
