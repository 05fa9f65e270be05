package dev.mcpbridge.http;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.Set;

/**
 * Keeps requests, but for those that ask how the bridge itself is, until it knows which servers it
 * has: it listens some hundredths of a second before that, and whoever is that early is not told
 * that a server does not exist. Stands in no request's way afterwards. Confined to the event loop.
 */
final class StartupGate implements Handler<RoutingContext> {
  private static final Set<String> OF_THE_BRIDGE = Set.of("/metrics", "/events");

  private final Promise<Void> opened = Promise.promise();

  /** Has to stand behind whoever reads the bodies: what is kept is not paused. */
  static StartupGate mount(Router router) {
    StartupGate startupGate = new StartupGate();
    Route route = router.route().handler(startupGate);
    startupGate.opened.future().onSuccess(servers -> route.remove());
    return startupGate;
  }

  /** A node of a cluster may not know its servers for long, and says so instead. */
  static StartupGate ofNode() {
    return new StartupGate();
  }

  /** The servers are known. */
  void over() {
    opened.tryComplete();
  }

  @Override
  public void handle(RoutingContext ctx) {
    whenItMayBeAnswered(ctx.request().path())
        .onSuccess(
            now -> {
              if (!ctx.response().closed()) {
                ctx.next();
              }
            });
  }

  private Future<Void> whenItMayBeAnswered(String path) {
    return path.startsWith("/health") || OF_THE_BRIDGE.contains(path)
        ? Future.succeededFuture()
        : opened.future();
  }
}
