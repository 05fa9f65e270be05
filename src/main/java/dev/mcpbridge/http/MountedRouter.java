package dev.mcpbridge.http;

import dev.mcpbridge.bus.EventLoop;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Problems;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;

/** The routes of the bridge as a part of another program's router. Stateless. */
final class MountedRouter {
  private static final String WRONG_LOOP =
      "The HTTP server of this router runs on another event loop than the bridge: create the server"
          + " in the handler that receives the started bridge, or in the verticle that starts it,"
          + " with one instance";

  private MountedRouter() {}

  static Router of(Vertx vertx, Router routes, EventLoop loop) {
    Router mounted = Router.router(vertx);
    mounted
        .route()
        .handler(
            ctx -> {
              if (loop.isCurrent()) {
                ctx.next();
              } else {
                ctx.fail(new BridgeException(ErrorCode.INTERNAL, WRONG_LOOP));
              }
            });
    mounted.route("/*").subRouter(routes);
    mounted.route().failureHandler(Problems::render);
    return mounted;
  }
}
