package dev.mcpbridge.http;

import dev.mcpbridge.http.reply.MountPoint;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.Set;

/**
 * Holds requests, except those for the state of the bridge itself, until its servers are known: the
 * listener opens some hundredths of a second earlier, and existing servers must not get 404. The
 * route is removed afterwards. Confined to the event loop.
 */
final class StartupGate implements Handler<RoutingContext> {
  private static final Set<String> UNGATED_PATHS = Set.of("/metrics", "/events");

  private final Promise<Void> opened = Promise.promise();

  /** Mount it after the body handler: the requests it holds are not paused. */
  static StartupGate mount(Router router) {
    StartupGate startupGate = new StartupGate();
    Route route = router.route().handler(startupGate);
    startupGate.opened.future().onSuccess(servers -> route.remove());
    return startupGate;
  }

  /** Not mounted: a cluster node may lack its servers for long, and reports that instead. */
  static StartupGate unmounted() {
    return new StartupGate();
  }

  /** Lets requests pass: the servers are known. */
  void open() {
    opened.tryComplete();
  }

  @Override
  public void handle(RoutingContext ctx) {
    mayPass(MountPoint.path(ctx))
        .onSuccess(
            passed -> {
              if (!ctx.response().closed()) {
                ctx.next();
              }
            });
  }

  private Future<Void> mayPass(String path) {
    return path.startsWith("/health") || UNGATED_PATHS.contains(path)
        ? Future.succeededFuture()
        : opened.future();
  }
}
