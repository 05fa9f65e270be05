package dev.mcpbridge.server;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Consents;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.oauth.BridgeUrls;
import dev.mcpbridge.oauth.OAuthClient;
import io.vertx.core.Future;
import java.util.List;

/**
 * Answers requests about what callers grant at a server: one instance of it does so for all.
 *
 * @param granted is told of each new grant
 */
record ConsentRequests(ServerId server, OAuthClient oauth, Runnable granted) {

  /** Returns what ends each registration. */
  List<Runnable> serve(Bus bus) {
    return List.of(
        bus.serve(Consents.begin(server), this::begin),
        bus.serve(Consents.redeem(server), this::redeem),
        bus.serve(Consents.forget(server), principal -> oauth.forget(principal).map(server)));
  }

  private Future<Consents.Begun> begin(Consents.Request request) {
    return oauth
        .begin(new BridgeUrls(request.bridgeUrl()), request.state(), request.scope())
        .map(begun -> new Consents.Begun(begun.url(), begun.pending()));
  }

  private Future<ServerId> redeem(Consents.Answer answer) {
    return oauth
        .redeem(answer.principal(), answer.client(), answer.pending(), answer.code())
        .map(
            redeemed -> {
              granted.run();
              return server;
            });
  }
}
