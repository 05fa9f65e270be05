package dev.mcpbridge.http;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.model.Principal;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.RoutingContext;
import java.net.InetSocketAddress;
import java.util.function.BiPredicate;

/**
 * Without keys, every caller is an administrator, except processes that the bridge has started: a
 * tool that can be tricked into sending a request must not start programs.
 *
 * @param isOwnProcess takes the client's address and the listener's; may block
 */
record KeylessChecks(Vertx vertx, BiPredicate<InetSocketAddress, InetSocketAddress> isOwnProcess) {
  /** Fails with FORBIDDEN for a process of the bridge without a key. */
  Future<Void> check(RoutingContext ctx) {
    if (Callers.of(ctx) != Principal.ANONYMOUS) {
      return Future.succeededFuture();
    }
    HttpConnection connection = ctx.request().connection();
    InetSocketAddress client = address(connection.remoteAddress());
    InetSocketAddress server = address(connection.localAddress());
    return vertx
        .executeBlocking(() -> isOwnProcess.test(client, server), false)
        .compose(isOwn -> isOwn ? Future.failedFuture(refusal()) : Future.succeededFuture());
  }

  private static BridgeException refusal() {
    return new BridgeException(
        ErrorCode.FORBIDDEN,
        "A process started by this bridge may not manage it without a key: configure auth.keys and"
            + " give it a key with the scope admin or approve");
  }

  private static InetSocketAddress address(SocketAddress socket) {
    return new InetSocketAddress(socket.hostAddress(), socket.port());
  }
}
