package dev.mcpbridge.http.mcp.reply;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Challenges;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcError;
import dev.mcpbridge.protocol.RpcWriter;
import io.vertx.ext.web.RoutingContext;

/**
 * Failures as JSON-RPC errors, and the HTTP status of each. A message that is refused as a whole
 * gets the status of its failure. The response to a request has status 200, except where proxies
 * and logs should see more. Stateless.
 */
public final class RpcErrors {
  private static final int FIRST_OF_METADATA = -32020;
  private static final int FIRST_UNDEFINED = -32023;
  private static final int LAST_RESERVED = -32099;

  private RpcErrors() {}

  public static BridgeException unknownMethod(String method) {
    return new BridgeException(ErrorCode.METHOD_NOT_FOUND, "Method not found: " + method);
  }

  /**
   * Refuses a message.
   *
   * @param id null if it could not be read
   */
  public static void refuse(RoutingContext ctx, JsonSlice id, Throwable failure) {
    BridgeException exception = Problems.of(failure);
    Challenges.add(ctx, exception);
    Replies.json(ctx, exception.code().status(), response(id, exception));
  }

  /** Refuses a request. */
  public static void refuse(ReplyChannel channel, JsonSlice id, Throwable failure) {
    BridgeException exception = Problems.of(failure);
    channel.challenge(exception);
    channel.finish(exception.code().status(), response(id, exception));
  }

  /** Answers a request of a session. */
  public static void answer(ReplyChannel channel, JsonSlice id, Throwable failure) {
    BridgeException exception = Problems.of(failure);
    channel.challenge(exception);
    int status =
        switch (exception.code()) {
          case FORBIDDEN, INSUFFICIENT_SCOPE -> 403;
          default -> 200;
        };
    channel.finish(status, response(id, exception));
  }

  /** Answers a request of the stateless era, where errors in metadata have a status too. */
  public static void answerStateless(
      ReplyChannel channel, ClientMessage request, Throwable failure) {
    BridgeException exception = Problems.of(failure);
    channel.challenge(exception);
    int code = code(exception);
    int status =
        switch (exception.code()) {
          case METHOD_NOT_FOUND -> 404;
          case FORBIDDEN, INSUFFICIENT_SCOPE -> 403;
          default -> code <= FIRST_OF_METADATA && code > FIRST_UNDEFINED ? 400 : 200;
        };
    channel.finish(status, response(request.id(), permitted(request, exception, code)));
  }

  /** The JSON-RPC code of a failure. */
  private static int code(BridgeException failure) {
    return failure.members().get("upstream") instanceof JsonSlice raw
        ? RpcError.read(raw).code()
        : failure.code().rpcCode();
  }

  /**
   * Maps an error of a server with a handshake for a stateless client: codes of the old era are
   * replaced, and codes that the specification reserves are not passed on (2026-07-28 basic/index,
   * error codes). The server's message is kept.
   */
  private static BridgeException permitted(
      ClientMessage request, BridgeException failure, int code) {
    boolean reserved = code <= FIRST_UNDEFINED && code >= LAST_RESERVED;
    if (code == RpcError.RESOURCE_NOT_FOUND && request.method().equals(McpMethod.RESOURCES_READ)) {
      return new BridgeException(ErrorCode.INVALID_PARAMS, failure.getMessage())
          .with("uri", request.stringParam("uri"));
    }
    if (code != RpcError.RESOURCE_NOT_FOUND && !reserved) {
      return failure;
    }
    return new BridgeException(ErrorCode.INTERNAL, failure.getMessage())
        .withExecuted(failure.executed())
        .with("upstreamError", failure.members().get("upstream"));
  }

  /** An error response: an upstream's error as it was sent, or one of the bridge. */
  private static JsonSlice response(JsonSlice id, BridgeException failure) {
    JsonSlice error =
        failure.members().get("upstream") instanceof JsonSlice raw ? raw : error(failure);
    return RpcWriter.error(id == null ? JsonSlice.NULL : id, error).toSlice();
  }

  private static JsonSlice error(BridgeException failure) {
    ErrorCode code = failure.code();
    JsonWriter out =
        new JsonWriter()
            .beginObject()
            .member("code", code.rpcCode())
            .member("message", failure.getMessage())
            .name("data")
            .beginObject()
            .member("code", code.slug())
            .member("executed", failure.executed().apiName())
            .member("retryable", code.retryable());
    if (failure.retryAfterSeconds() > 0) {
      out.member("retryAfterSeconds", failure.retryAfterSeconds());
    }
    failure.members().forEach((name, value) -> Problems.member(out, name, value));
    return out.endObject().endObject().toSlice();
  }
}
