package dev.mcpbridge.http;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Problems;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;

/** Answers a request that is not valid HTTP; closes the connection, as its framing is lost. */
final class InvalidRequestHandler implements Handler<HttpServerRequest> {

  @Override
  public void handle(HttpServerRequest request) {
    Throwable cause = request.decoderResult() == null ? null : request.decoderResult().cause();
    BridgeException failure = new BridgeException(code(cause), "The request is not valid HTTP");
    byte[] body = Problems.document(failure, Long.toString(System.nanoTime(), 36)).toBytes();
    request
        .response()
        .setStatusCode(failure.code().status())
        .putHeader("content-type", "application/problem+json")
        .putHeader("x-content-type-options", "nosniff")
        .putHeader("connection", "close")
        .end(Buffer.buffer(body))
        .onComplete(sent -> request.connection().close());
  }

  private static ErrorCode code(Throwable cause) {
    if (cause instanceof TooLongHttpLineException) {
      return ErrorCode.URI_TOO_LONG;
    }
    return cause instanceof TooLongHttpHeaderException
        ? ErrorCode.HEADERS_TOO_LARGE
        : ErrorCode.MALFORMED_REQUEST;
  }
}
