package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.handler.BodyHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Loading classes is most of a start. What serving needs in any case is loaded on another core
 * while the command line and the configuration are read: a Vert.x, and one request to a listener of
 * its own that knows no tool.
 */
final class HeadStart {
  private static final FutureTask<Vertx> VERTX = new FutureTask<>(Bridge::vertx);
  private static final byte[] REQUEST =
      "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private HeadStart() {}

  static void begin() {
    Thread thread = new Thread(HeadStart::rehearse, "mcp-head-start");
    thread.setDaemon(true);
    thread.start();
  }

  /** The Vert.x of the head start, made now if there was none. */
  static Vertx vertx() throws InterruptedException, ExecutionException {
    VERTX.run();
    return VERTX.get();
  }

  private static void rehearse() {
    try {
      HttpServer server =
          listener(vertx())
              .listen(0, InetAddress.getLoopbackAddress().getHostAddress())
              .await(10, TimeUnit.SECONDS);
      try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.actualPort())) {
        client.setSoTimeout(10_000);
        client.getOutputStream().write(REQUEST);
        client.getInputStream().read();
      }
      server.close();
    } catch (IOException
        | InterruptedException
        | ExecutionException
        | TimeoutException
        | RuntimeException e) {
      // only time is lost: whoever needs the Vert.x is told what is wrong with it
    }
  }

  private static HttpServer listener(Vertx vertx) {
    Router router = Router.router(vertx);
    router.route().handler(BodyHandler.create(false));
    router.get("/").handler(ctx -> ctx.response().putHeader("content-type", "text/plain").end("."));
    return vertx.createHttpServer(new HttpServerOptions()).requestHandler(router);
  }
}
