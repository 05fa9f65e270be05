package dev.mcpbridge.transport;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;

/** A request and the head of its response. */
public record Sent(HttpClientRequest request, HttpClientResponse response) {
  /** What breaks after it was given up is nobody's concern. */
  static Sent of(HttpClientRequest request, HttpClientResponse response) {
    response.exceptionHandler(e -> {});
    return new Sent(request, response);
  }

  /** The whole body; a longer one is given up and fails with RESPONSE_TOO_LARGE. */
  public Future<Buffer> body(int max) {
    Promise<Buffer> whole = Promise.promise();
    Buffer held = Buffer.buffer();
    response
        .handler(
            chunk -> {
              held.appendBuffer(chunk);
              if (held.length() > max && whole.tryFail(tooLarge(max))) {
                abort();
              }
            })
        .exceptionHandler(whole::tryFail)
        .endHandler(v -> whole.tryComplete(held));
    return whole.future();
  }

  public static BridgeException tooLarge(int max) {
    return new BridgeException(
            ErrorCode.RESPONSE_TOO_LARGE, "The answer is longer than " + max + " bytes")
        .withExecuted(Executed.YES);
  }

  boolean isStream() {
    String type = response.getHeader("content-type");
    return type != null && type.startsWith("text/event-stream");
  }

  /** Gives it up; nothing more is heard of it. */
  void abort() {
    request.reset();
  }
}
