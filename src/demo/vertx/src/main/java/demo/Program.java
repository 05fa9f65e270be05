package demo;

import dev.mcpbridge.api.BridgeOptions;
import dev.mcpbridge.api.McpBridge;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;

/** A program of its own, with the API of a bridge under /tools. */
public class Program extends VerticleBase {
  private static final String CONFIG =
      "{\"mcpServers\": {\"git\": {\"builtin\": \"git\", \"args\": [\"--root\", \".\"]}}}";

  public static void main(String[] args) {
    Vertx.vertx().deployVerticle(new Program()).await();
    System.out.println("listening");
  }

  @Override
  public Future<?> start() {
    return McpBridge.start(vertx, BridgeOptions.fromJson(CONFIG)).compose(this::listen);
  }

  private Future<HttpServer> listen(McpBridge bridge) {
    Router router = Router.router(vertx);
    router.get("/repositories").handler(ctx ->
        bridge.tools().call("git__list_repositories", "{}").onSuccess(outcome -> ctx.end(outcome.text())));
    router.route("/tools/*").subRouter(bridge.router());
    return vertx.createHttpServer().requestHandler(router).listen(Integer.getInteger("port", 8080), "127.0.0.1");
  }
}
