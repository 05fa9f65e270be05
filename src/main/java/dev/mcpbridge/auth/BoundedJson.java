package dev.mcpbridge.auth;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.streams.WriteStream;
import io.vertx.ext.web.codec.spi.BodyStream;
import java.io.IOException;

/** The body of a response: one JSON value of bounded size. Used for one response. */
final class BoundedJson implements BodyStream<JsonNode> {
  private final int maxBytes;
  private final Buffer received = Buffer.buffer();
  private final Promise<JsonNode> result = Promise.promise();

  BoundedJson(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  @Override
  public Future<JsonNode> result() {
    return result.future();
  }

  @Override
  public Future<Void> write(Buffer part) {
    if (received.length() + part.length() > maxBytes) {
      result.tryFail(new IOException("the response is larger than " + maxBytes + " bytes"));
    } else if (!result.future().isComplete()) {
      received.appendBuffer(part);
    }
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> end() {
    try {
      result.tryComplete(Json.tree(received.getBytes()));
    } catch (IOException e) {
      result.tryFail(new IOException("the response is not JSON"));
    }
    return Future.succeededFuture();
  }

  @Override
  public void handle(Throwable broken) {
    result.tryFail(broken);
  }

  @Override
  public WriteStream<Buffer> exceptionHandler(Handler<Throwable> handler) {
    return this;
  }

  @Override
  public WriteStream<Buffer> setWriteQueueMaxSize(int maxSize) {
    return this;
  }

  @Override
  public boolean writeQueueFull() {
    return false;
  }

  @Override
  public WriteStream<Buffer> drainHandler(Handler<Void> handler) {
    return this;
  }
}
