package dev.mcpbridge.sandbox;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Opens the byte stream to a container: an HTTP connection to the engine that is upgraded to a raw
 * stream (Docker Engine API, attach). It transports both outputs and the end of stdin, which
 * docker-java's own attach does not.
 */
final class Attachment {
  private static final int MAX_HEAD = 16 << 10;
  private static final long MAX_TIMEOUT_MILLIS = 30_000;

  private Attachment() {}

  /** Receives the bytes after the head of the HTTP response. */
  interface StreamReader {
    void bytes(Buffer chunk, int from);

    void closed();
  }

  /**
   * Attaches to a container. Fails with ISOLATION_UNAVAILABLE.
   *
   * @param timeoutMillis maximum time for the engine's response
   */
  static Future<NetSocket> open(
      NetClient client, String engine, String id, long timeoutMillis, StreamReader streamReader) {
    long timeout = Math.min(timeoutMillis, MAX_TIMEOUT_MILLIS);
    return client
        .connect(address(engine))
        .compose(socket -> attach(socket, id, timeout, streamReader))
        .recover(
            failure ->
                Future.failedFuture(
                    new BridgeException(
                        ErrorCode.ISOLATION_UNAVAILABLE,
                        "Attaching to the container failed: " + reason(failure, timeout))));
  }

  private static Future<NetSocket> attach(
      NetSocket socket, String id, long timeout, StreamReader streamReader) {
    Promise<NetSocket> attached = Promise.promise();
    Buffer head = Buffer.buffer();
    socket.handler(
        chunk -> {
          if (attached.future().succeeded()) {
            streamReader.bytes(chunk, 0);
            return;
          }
          int before = head.length();
          head.appendBuffer(chunk);
          int end = endOf(head);
          if (end < 0 && head.length() > MAX_HEAD) {
            attached.tryFail("the engine's response is not HTTP");
          } else if (end >= 0 && isSwitched(head)) {
            attached.tryComplete(socket);
            if (end < head.length()) {
              streamReader.bytes(chunk, end - before);
            }
          } else if (end >= 0) {
            attached.tryFail(head.getString(0, Math.min(head.length(), 200)));
          }
        });
    socket.closeHandler(
        closed -> {
          attached.tryFail("the engine closed the connection");
          streamReader.closed();
        });
    socket.exceptionHandler(broken -> socket.close());
    socket.write(
        "POST /containers/"
            + id
            + "/attach?stream=1&stdin=1&stdout=1&stderr=1 HTTP/1.1\r\nHost: engine\r\n"
            + "Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n");
    return attached
        .future()
        .timeout(timeout, TimeUnit.MILLISECONDS)
        .onFailure(refused -> socket.close());
  }

  private static String reason(Throwable failure, long timeout) {
    return failure instanceof TimeoutException
        ? "the engine did not respond within " + timeout + " ms"
        : failure.getMessage();
  }

  private static SocketAddress address(String engine) {
    if (engine.startsWith("unix://")) {
      return SocketAddress.domainSocketAddress(engine.substring(7));
    }
    URI uri = URI.create(engine);
    return SocketAddress.inetSocketAddress(uri.getPort(), uri.getHost());
  }

  /** Offset after the empty line; −1 if the head is incomplete. */
  private static int endOf(Buffer head) {
    int at = head.toString(StandardCharsets.ISO_8859_1).indexOf("\r\n\r\n");
    return at < 0 ? -1 : at + 4;
  }

  private static boolean isSwitched(Buffer head) {
    String status = head.getString(0, Math.min(head.length(), 12), "ISO-8859-1");
    return status.endsWith(" 101") || status.endsWith(" 200");
  }
}
