package dev.mcpbridge.adapter.grpc;

import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.transport.HttpSender;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

/** An HTTP/2 server that answers as a test says, and a channel to it. */
final class FaultyGrpcServer {
  static final int MAX = 1_000;

  private final Vertx vertx;
  private final CountDownLatch reset = new CountDownLatch(1);
  private final AtomicBoolean mayAct = new AtomicBoolean(true);
  private final int port;

  /**
   * @param answers gets each request with its body, when it has arrived completely
   */
  FaultyGrpcServer(Vertx vertx, BiConsumer<HttpServerRequest, Buffer> answers) throws Exception {
    this.vertx = vertx;
    this.port =
        vertx
            .createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(true))
            .requestHandler(
                request -> {
                  request.response().exceptionHandler(broken -> reset.countDown());
                  request.body().onSuccess(body -> answers.accept(request, body));
                })
            .listen(0, "127.0.0.1")
            .await(10, TimeUnit.SECONDS)
            .actualPort();
  }

  GrpcChannel channel() {
    return channel(vertx, port, mayAct);
  }

  static GrpcChannel channel(Vertx vertx, int port, AtomicBoolean mayAct) {
    HttpAccess access = new HttpAccess(Map.of(), null, null);
    return new GrpcChannel(
        vertx,
        HttpSender.http2(vertx, access, new MemoryBudget(1 << 20), mayAct::get),
        URI.create("http://127.0.0.1:" + port),
        MAX);
  }

  /** Whether the bridge may send requests. */
  AtomicBoolean mayAct() {
    return mayAct;
  }

  /** Waits until the bridge has reset a stream. */
  boolean awaitReset() throws InterruptedException {
    return reset.await(10, TimeUnit.SECONDS);
  }

  /** A response that ends with the status OK. */
  static HttpServerResponse ok(HttpServerRequest request) {
    return request
        .response()
        .putHeader("content-type", "application/grpc+proto")
        .putTrailer("grpc-status", "0");
  }

  /** A message with the byte before it that tells whether it is compressed. */
  static Buffer frame(int flag, byte[] message) {
    return Buffer.buffer().appendByte((byte) flag).appendInt(message.length).appendBytes(message);
  }
}
