package dev.mcpbridge.http;

import dev.mcpbridge.bus.EventLoop;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Problems;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.net.InetSocketAddress;
import java.util.function.BooleanSupplier;

/** The routes of the bridge as a part of another program's router. */
final class MountedRouter {
  private final Conditions conditions;

  /**
   * @param isProtected whether callers need a credential, or the operator has said that they do not
   * @param isStopping whether the bridge is being closed, or is closed
   */
  record Conditions(EventLoop loop, BooleanSupplier isProtected, BooleanSupplier isStopping) {}

  MountedRouter(Conditions conditions) {
    this.conditions = conditions;
  }

  static Router of(Vertx vertx, Router routes, Conditions conditions) {
    Router mounted = Router.router(vertx);
    mounted.route().handler(new MountedRouter(conditions)::check);
    mounted.route("/*").subRouter(routes);
    mounted.route().failureHandler(Problems::render);
    return mounted;
  }

  /** Refuses a request, or passes it on. */
  void check(RoutingContext ctx) {
    if (!conditions.loop().isCurrent()) {
      throw new BridgeException(
          ErrorCode.INTERNAL,
          "The HTTP server of this router runs on another event loop than the bridge: create the"
              + " server in the handler that receives the started bridge, or in the verticle that"
              + " starts it, with one instance");
    }
    if (conditions.isStopping().getAsBoolean()) {
      throw new BridgeException(ErrorCode.SERVER_UNAVAILABLE, "The bridge is closed");
    }
    if (!conditions.isProtected().getAsBoolean() && !isLocal(ctx)) {
      throw new BridgeException(
          ErrorCode.FORBIDDEN,
          "Other machines may not use a bridge without keys: add auth.keys or auth.issuers, or set"
              + " http.insecure: true if the program checks its callers itself");
    }
    ctx.next();
  }

  /** Whether the client has connected to a loopback address. */
  private static boolean isLocal(RoutingContext ctx) {
    SocketAddress local = ctx.request().connection().localAddress();
    return local.isDomainSocket()
        || new InetSocketAddress(local.hostAddress(), local.port())
            .getAddress()
            .isLoopbackAddress();
  }
}
