package dev.mcpbridge.http;

import dev.mcpbridge.auth.Authenticator;
import dev.mcpbridge.auth.ConsoleSessions;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.config.UpstreamTarget;
import dev.mcpbridge.http.reply.AccessRecords;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import java.net.URI;
import java.util.function.Supplier;

/**
 * Who calls, and how the bridge is reached, by the present configuration.
 *
 * @param sessions of the console
 * @param records of log-ins and refusals
 * @param url of the bridge, as clients reach it; null without a listener
 */
record Identities(
    Supplier<Authenticator> authenticator,
    ConsoleSessions sessions,
    AccessRecords records,
    Supplier<BridgeConfig> config,
    Supplier<String> url) {

  /**
   * Whether a principal can prove at a page of the bridge who it is: the callers of a program that
   * vouches for them cannot, and without a listener there is no page.
   */
  boolean canAgree(Principal principal) {
    Principal.Token token = principal.token();
    boolean isVouchedFor = token != null && token.issuer().equals(config.get().auth().program());
    return url.get() != null && !isVouchedFor;
  }

  /** How a server is reached; null if it is not in the configuration. */
  UpstreamTarget target(ServerId server) {
    ServerConfig entry = config.get().servers().get(server);
    return entry == null ? null : entry.upstreamTarget();
  }

  /** What a server is reached by: its URL, or else its whole entry; empty if it is unknown. */
  String address(ServerId server) {
    ServerConfig entry = config.get().servers().get(server);
    if (entry == null) {
      return "";
    }
    URI url = entry.upstreamTarget().url();
    return url == null ? entry.programDigest() : url.toString();
  }

  /** Whether callers grant the bridge access to a server. */
  boolean grantsAccess(ServerId server) {
    UpstreamTarget target = target(server);
    return target != null && target.oauth() != null && target.oauth().needsConsent();
  }
}
