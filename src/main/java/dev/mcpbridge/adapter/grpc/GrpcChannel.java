package dev.mcpbridge.adapter.grpc;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.transport.ClientResponse;
import dev.mcpbridge.transport.HttpSender;
import dev.mcpbridge.transport.PendingRequest;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.StreamResetException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Calls methods of one server (gRPC over HTTP/2). Confined to its context. */
final class GrpcChannel {
  private static final long MAX_TIMEOUT_MILLIS = 99_999_999;
  private static final long PING_MILLIS = 3_000;

  /** The server ends a call at its deadline, possibly shortly before it has passed here. */
  private static final long CLOCK_SKEW_MILLIS = 100;

  private final Vertx vertx;
  private final HttpSender sender;
  private final URI origin;
  private final int maxMessage;
  private HttpConnection latest;

  GrpcChannel(Vertx vertx, HttpSender sender, URI origin, int maxMessage) {
    this.vertx = vertx;
    this.sender = sender;
    this.origin = origin;
    this.maxMessage = maxMessage;
  }

  /**
   * A request.
   *
   * @param path {@code /package.Service/Method}
   * @param messages serialized
   * @param headers credentials and trace context
   * @param timeoutMillis from now; what is left of it is told to the server; 0 for none
   */
  record Request(
      String path, List<byte[]> messages, Map<String, String> headers, long timeoutMillis) {

    /** One small message, for the bridge's own questions. */
    static Request of(String path, byte[] message, Map<String, String> headers, long millis) {
      return new Request(path, List.of(message), headers, millis);
    }
  }

  /** A call in flight. */
  final class Exchange implements ClientResponse.BodyReader {
    private final Promise<GrpcStatus> status = Promise.promise();
    private final Request request;
    private final MessageReceiver receiver;
    private final long endMillis;
    private PendingRequest pendingRequest;
    private ClientResponse response;
    private FrameReader frames;

    private Exchange(Request request, MessageReceiver receiver) {
      this.request = request;
      this.receiver = receiver;
      long millis = request.timeoutMillis() == 0 ? Long.MAX_VALUE / 2 : request.timeoutMillis();
      this.endMillis = millisNow() + millis;
    }

    /** How the call ended; fails if it was cancelled, or the server was not reached. */
    Future<GrpcStatus> status() {
      return status.future();
    }

    /** Resets the stream. */
    void cancel() {
      status.tryFail(
          new BridgeException(ErrorCode.CANCELLED, "cancelled").withExecuted(Executed.UNKNOWN));
      pendingRequest.cancel();
    }

    private Future<HttpClientResponse> write(HttpClientRequest http) {
      latest = http.connection();
      http.putHeader("content-type", "application/grpc")
          .putHeader("te", "trailers")
          .putHeader("grpc-accept-encoding", "identity")
          .putHeader("user-agent", "mcp-bridge");
      if (request.timeoutMillis() > 0) {
        long left = endMillis - millisNow();
        if (left <= 0) {
          return Future.failedFuture(
              new BridgeException(
                  ErrorCode.DEADLINE_EXCEEDED, "The call waited too long for a connection"));
        }
        http.putHeader("grpc-timeout", timeout(left));
      }
      request.headers().forEach(http::putHeader);
      Buffer body = Buffer.buffer();
      for (byte[] message : request.messages()) {
        body.appendByte((byte) 0).appendInt(message.length).appendBytes(message);
      }
      return http.send(body);
    }

    private void onHead(ClientResponse clientResponse) {
      response = clientResponse;
      HttpClientResponse head = clientResponse.response();
      GrpcStatus inHead = GrpcStatus.in(head.headers());
      String type = String.valueOf(head.getHeader("content-type"));
      boolean isGrpc = head.statusCode() == 200 && type.startsWith("application/grpc");
      frames = new FrameReader(maxMessage, receiver::receive);
      if (inHead != null || !isGrpc) {
        status.tryComplete(inHead != null ? inHead : withoutStatus());
        response.read(this);
        response.abort();
      } else {
        response.read(this);
      }
    }

    private GrpcStatus withoutStatus() {
      HttpClientResponse head = response.response();
      return GrpcStatus.ofHttp(head.statusCode(), head.getHeader("content-type"));
    }

    @Override
    public long take(Buffer chunk) {
      if (status.future().isComplete()) {
        return 0;
      }
      try {
        if (!frames.feed(chunk)) {
          finish(GrpcStatus.of(GrpcStatus.OK, ""));
        }
        return frames.buffered() + receiver.heldBytes();
      } catch (RuntimeException invalid) {
        status.tryFail(invalid);
        response.abort();
        return 0;
      }
    }

    private void finish(GrpcStatus end) {
      status.tryComplete(end);
      response.abort();
    }

    @Override
    public void ended(Throwable broken) {
      if (broken != null) {
        onBroken(broken);
        return;
      }
      GrpcStatus trailing =
          response.response().trailers() == null
              ? null
              : GrpcStatus.in(response.response().trailers());
      if (trailing != null && trailing.isOk() && frames.isIncomplete()) {
        status.tryFail(FrameReader.invalid("the last message is incomplete"));
      } else {
        status.tryComplete(trailing != null ? trailing : withoutStatus());
      }
    }

    /** Before the head of a response. */
    private void onFailure(Throwable failure) {
      boolean isUnsent = BridgeException.of(failure).executed() == Executed.NO;
      if (failure.getCause() instanceof StreamResetException reset && !isUnsent) {
        onReset(reset);
      } else {
        status.tryFail(HttpSender.toBridgeException(origin, failure));
      }
    }

    /** Once there is a response, the call may have been executed. */
    private void onBroken(Throwable broken) {
      if (broken instanceof StreamResetException reset) {
        onReset(reset);
      } else {
        status.tryFail(HttpSender.toBridgeException(origin, broken).withExecuted(Executed.UNKNOWN));
      }
    }

    private void onReset(StreamResetException reset) {
      boolean isLate = millisNow() >= endMillis - CLOCK_SKEW_MILLIS;
      status.tryComplete(
          reset.getCode() == ClientResponse.CANCEL && isLate
              ? GrpcStatus.of(GrpcStatus.DEADLINE_EXCEEDED, "the server ended the call")
              : GrpcStatus.ofReset(reset.getCode()));
    }
  }

  /** Starts a call. */
  Exchange call(Request request, MessageReceiver receiver) {
    Exchange exchange = new Exchange(request, receiver);
    exchange.pendingRequest =
        sender.send(HttpMethod.POST, URI.create(origin + request.path()), exchange::write);
    exchange.pendingRequest.response().onComplete(exchange::onHead, exchange::onFailure);
    return exchange;
  }

  /**
   * Asks a question of the bridge itself, which ends after its timeout; a connection that does not
   * even answer a ping then is closed, so that the next call gets another one.
   */
  Future<GrpcStatus> ask(Request request, MessageReceiver receiver) {
    Exchange exchange = call(request, receiver);
    long timer =
        vertx.setTimer(
            request.timeoutMillis(),
            t -> {
              exchange.status.tryFail(
                  new BridgeException(
                      ErrorCode.DEADLINE_EXCEEDED,
                      origin + " did not answer within " + request.timeoutMillis() + " ms"));
              exchange.cancel();
              closeIfSilent(latest);
            });
    return exchange.status().onComplete(done -> vertx.cancelTimer(timer));
  }

  private void closeIfSilent(HttpConnection connection) {
    if (connection != null) {
      connection
          .ping(Buffer.buffer(new byte[8]))
          .timeout(PING_MILLIS, TimeUnit.MILLISECONDS)
          .onFailure(silent -> connection.close());
    }
  }

  private static long millisNow() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /** At most eight digits and a unit. */
  static String timeout(long millis) {
    return millis <= MAX_TIMEOUT_MILLIS
        ? millis + "m"
        : Math.min(TimeUnit.MILLISECONDS.toSeconds(millis), MAX_TIMEOUT_MILLIS) + "S";
  }

  Future<Void> close() {
    return sender.close().otherwiseEmpty();
  }
}
