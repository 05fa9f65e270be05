package dev.mcpbridge.http;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.handler.BodyHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Loads the classes of the HTTP server before the first real request, with one request to a
 * temporary loopback listener that serves no tools. Blocks; not for an event loop.
 */
public final class HttpWarmUp {
  private static final byte[] REQUEST =
      "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final int TIMEOUT_MILLIS = 10_000;

  private HttpWarmUp() {}

  /** Runs the warm-up. A failure has no effect except that the first request is slower. */
  public static void run(Vertx vertx) throws IOException, TimeoutException {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    HttpServer server =
        listener(vertx)
            .listen(0, loopback.getHostAddress())
            .await(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
    try (Socket client = new Socket(loopback, server.actualPort())) {
      client.setSoTimeout(TIMEOUT_MILLIS);
      client.getOutputStream().write(REQUEST);
      client.getInputStream().read();
    } finally {
      server.close();
    }
  }

  private static HttpServer listener(Vertx vertx) {
    Router router = Router.router(vertx);
    router.route().handler(BodyHandler.create(false));
    router.get("/").handler(ctx -> ctx.response().putHeader("content-type", "text/plain").end("."));
    return vertx.createHttpServer().requestHandler(router);
  }
}
