package dev.mcpbridge.perf;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;

/** The upper bound: a Vert.x HTTP server on one event loop that sends a fixed response. */
public final class BareServer {
  private BareServer() {}

  public static void main(String[] args) throws Exception {
    Buffer answer = Buffer.buffer(args[0]);
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    vertx
        .createHttpServer()
        .requestHandler(
            request ->
                request
                    .body()
                    .onSuccess(
                        body ->
                            request
                                .response()
                                .putHeader("content-type", "application/json")
                                .end(answer)))
        .listen(0, "127.0.0.1")
        .onSuccess(server -> System.out.println("listening " + server.actualPort()));
  }
}
