package dev.mcpbridge.server;

import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.LastError;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import java.util.List;

/** The view of a server that no node can run. */
final class UnplacedServer {
  private UnplacedServer() {}

  static ServerView view(ServerConfig server, InstanceLocation nowhere) {
    String reason =
        server.placement().isEmpty()
            ? "no node of the cluster can run it"
            : "no node of the cluster has the labels " + String.join(", ", server.placement());
    return new ServerView(
        server.id(),
        new ServerState.Refused(ErrorCode.SERVER_UNAVAILABLE, reason),
        List.of(),
        null,
        null,
        null,
        server.risk(),
        server.timeouts(),
        server.sandboxPool() == null ? null : server.sandboxPool().container().image(),
        null,
        server.programDigest(),
        ServerView.Counters.ZERO,
        new LastError(reason),
        System.currentTimeMillis(),
        List.of(nowhere));
  }
}
