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
 * Opens the byte stream into a container: a connection to the engine that stops to be HTTP once it
 * was answered (Docker Engine API, attach). Both the outputs and stdin's end pass, which
 * docker-java's own attach does not do.
 */
final class Attachment {
  private static final int MAX_HEAD = 16 << 10;
  private static final long MAX_PATIENCE_MILLIS = 30_000;

  private Attachment() {}

  /** Gets what comes after the head. */
  interface StreamReader {
    void bytes(Buffer chunk, int from);

    void closed();
  }

  /**
   * @param patienceMillis how long the engine may take
   */
  static Future<NetSocket> open(
      NetClient client, String engine, String id, long patienceMillis, StreamReader streamReader) {
    long patience = Math.min(patienceMillis, MAX_PATIENCE_MILLIS);
    return client
        .connect(address(engine))
        .compose(socket -> attach(socket, id, patience, streamReader))
        .recover(
            failure ->
                Future.failedFuture(
                    new BridgeException(
                        ErrorCode.ISOLATION_UNAVAILABLE,
                        "The container engine gives no stream: " + reason(failure, patience))));
  }

  private static Future<NetSocket> attach(
      NetSocket socket, String id, long patience, StreamReader streamReader) {
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
            attached.tryFail("its answer is no HTTP");
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
          attached.tryFail("it has closed the connection");
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
        .timeout(patience, TimeUnit.MILLISECONDS)
        .onFailure(refused -> socket.close());
  }

  private static String reason(Throwable failure, long patience) {
    return failure instanceof TimeoutException
        ? "it has not answered within " + patience + " ms"
        : failure.getMessage();
  }

  private static SocketAddress address(String engine) {
    if (engine.startsWith("unix://")) {
      return SocketAddress.domainSocketAddress(engine.substring(7));
    }
    URI uri = URI.create(engine);
    return SocketAddress.inetSocketAddress(uri.getPort(), uri.getHost());
  }

  /** Behind the empty line; −1 while there is none. */
  private static int endOf(Buffer head) {
    int at = head.toString(StandardCharsets.ISO_8859_1).indexOf("\r\n\r\n");
    return at < 0 ? -1 : at + 4;
  }

  private static boolean isSwitched(Buffer head) {
    String status = head.getString(0, Math.min(head.length(), 12), "ISO-8859-1");
    return status.endsWith(" 101") || status.endsWith(" 200");
  }
}
