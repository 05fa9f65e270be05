package dev.mcpbridge.perf;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** A closed-loop load generator on one thread, with one request in flight on each connection. */
final class HttpLoad {
  private final byte[] request;
  private final Selector selector;
  private Samples samples = new Samples();

  private final class Connection {
    final SocketChannel channel;
    final ByteBuffer in = ByteBuffer.allocate(1 << 20);
    long sentNanos;
    int expected = -1;

    Connection(SocketChannel channel) {
      this.channel = channel;
    }

    void send() throws IOException {
      sentNanos = System.nanoTime();
      ByteBuffer out = ByteBuffer.wrap(request);
      while (out.hasRemaining()) {
        channel.write(out);
      }
    }

    void read() throws IOException {
      if (channel.read(in) < 0) {
        throw new IOException("closed by the server");
      }
      if (expected < 0) {
        expected = responseLength(in);
      }
      if (expected >= 0 && in.position() >= expected) {
        samples.add(System.nanoTime() - sentNanos);
        in.clear();
        expected = -1;
        send();
      }
    }
  }

  HttpLoad(int port, int connections, String path, String body) throws IOException {
    this(port, connections, path, body, "");
  }

  /**
   * @param headers additional headers, each with its line end
   */
  HttpLoad(int port, int connections, String path, String body, String headers) throws IOException {
    request =
        ("POST "
                + path
                + " HTTP/1.1\r\nHost: 127.0.0.1:"
                + port
                + "\r\nContent-Type: application/json\r\nContent-Length: "
                + body.length()
                + "\r\n"
                + headers
                + "\r\n"
                + body)
            .getBytes(StandardCharsets.US_ASCII);
    selector = Selector.open();
    for (int i = 0; i < connections; i++) {
      SocketChannel channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.configureBlocking(false);
      Connection connection = new Connection(channel);
      channel.register(selector, SelectionKey.OP_READ, connection);
      connection.send();
    }
  }

  /** Warms up, measures, and closes the connections. */
  Samples run(double warmUpSeconds, double seconds) throws IOException {
    loop(warmUpSeconds);
    samples = new Samples();
    long from = System.nanoTime();
    loop(seconds);
    samples.finish(System.nanoTime() - from);
    for (SelectionKey key : selector.keys()) {
      key.channel().close();
    }
    selector.close();
    return samples;
  }

  private void loop(double seconds) throws IOException {
    long end = System.nanoTime() + (long) (seconds * 1e9);
    while (System.nanoTime() < end) {
      selector.select(100);
      for (SelectionKey key : selector.selectedKeys()) {
        ((Connection) key.attachment()).read();
      }
      selector.selectedKeys().clear();
    }
  }

  /** The length of head and body; −1 while the head is incomplete. */
  private static int responseLength(ByteBuffer in) throws IOException {
    byte[] bytes = in.array();
    for (int i = 3; i < in.position(); i++) {
      if (bytes[i] == '\n' && bytes[i - 1] == '\r' && bytes[i - 2] == '\n') {
        String head = new String(bytes, 0, i + 1, StandardCharsets.US_ASCII);
        if (!head.startsWith("HTTP/1.1 200")) {
          throw new IOException(head);
        }
        int at = head.toLowerCase(java.util.Locale.ROOT).indexOf("content-length:") + 15;
        return i + 1 + Integer.parseInt(head.substring(at, head.indexOf('\r', at)).strip());
      }
    }
    return -1;
  }
}
