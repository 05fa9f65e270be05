package dev.mcpbridge.sandbox;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.parsetools.RecordParser;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The byte stream to a container: an HTTP connection to the engine that is upgraded to a raw stream
 * (Docker Engine API, attach). It transports both outputs and the end of stdin, which docker-java's
 * own attach does not. After the head of the response come frames: a header of 8 bytes that
 * contains the output and the length, and that many bytes. Confined to one context.
 */
final class Attachment {
  private static final int HEADER = 8;

  /** Engines send frames of at most 32 KiB. */
  private static final int MAX_FRAME = 1 << 20;

  private static final long MAX_TIMEOUT_MILLIS = 30_000;

  private final NetSocket socket;
  private final ContainerTransport container;
  private final Promise<NetSocket> attached = Promise.promise();
  private final RecordParser parser = RecordParser.newDelimited("\r\n\r\n", this::head);
  private boolean isStderr;

  private Attachment(NetSocket socket, ContainerTransport container) {
    this.socket = socket;
    this.container = container;
  }

  /**
   * Attaches to a container. Fails with ISOLATION_UNAVAILABLE.
   *
   * @param timeoutMillis maximum time for the engine's response
   */
  static Future<NetSocket> open(
      NetClient client, String engine, ContainerTransport container, long timeoutMillis) {
    long timeout = Math.min(timeoutMillis, MAX_TIMEOUT_MILLIS);
    return client
        .connect(address(engine))
        .compose(socket -> new Attachment(socket, container).attach(timeout))
        .recover(
            failure ->
                Future.failedFuture(
                    new BridgeException(
                        ErrorCode.ISOLATION_UNAVAILABLE,
                        "Attaching to the container failed: " + reason(failure, timeout))));
  }

  private Future<NetSocket> attach(long timeout) {
    parser.maxRecordSize(MAX_FRAME).exceptionHandler(tooLong -> socket.close());
    socket.handler(parser);
    socket.closeHandler(
        closed -> {
          attached.tryFail("the engine closed the connection");
          container.closed();
        });
    socket.exceptionHandler(broken -> socket.close());
    String request =
        """
        POST /containers/%s/attach?stream=1&stdin=1&stdout=1&stderr=1 HTTP/1.1\r
        Host: engine\r
        Connection: Upgrade\r
        Upgrade: tcp\r
        Content-Length: 0\r
        \r
        """
            .formatted(container.id());
    return socket
        .write(request)
        .compose(written -> attached.future())
        .timeout(timeout, TimeUnit.MILLISECONDS)
        .onFailure(refused -> socket.close());
  }

  private void head(Buffer head) {
    String text = head.toString("ISO-8859-1");
    if (text.matches("(?s)HTTP/1\\.\\d (101|200).*")) {
      awaitFrame();
      attached.tryComplete(socket);
    } else {
      attached.tryFail(text.substring(0, Math.min(text.length(), 200)));
    }
  }

  private void awaitFrame() {
    parser.fixedSizeMode(HEADER);
    parser.handler(this::header);
  }

  private void header(Buffer header) {
    isStderr = header.getByte(0) == 2;
    long length = header.getUnsignedInt(4);
    if (length > MAX_FRAME) {
      socket.close();
    } else if (length > 0) {
      parser.fixedSizeMode((int) length);
      parser.handler(this::frame);
    }
  }

  private void frame(Buffer frame) {
    if (isStderr) {
      container.stderr(frame.getBytes());
    } else {
      container.stdout(frame.getBytes());
    }
    awaitFrame();
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
}
