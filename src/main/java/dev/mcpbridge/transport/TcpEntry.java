package dev.mcpbridge.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Optional;

/**
 * One end of a TCP connection: a line of {@code /proc/net/tcp} or {@code tcp6} (proc(5)).
 *
 * @param inode inode of the socket; 0 if no process holds it any longer
 */
record TcpEntry(InetSocketAddress local, InetSocketAddress remote, long inode) {
  private static final int LOCAL = 1;
  private static final int REMOTE = 2;
  private static final int INODE = 9;

  /** Parses a line; empty for the heading and for invalid lines. */
  static Optional<TcpEntry> parse(String line) {
    String[] fields = line.strip().split("\\s+");
    try {
      return fields.length > INODE
          ? Optional.of(
              new TcpEntry(
                  address(fields[LOCAL]), address(fields[REMOTE]), Long.parseLong(fields[INODE])))
          : Optional.empty();
    } catch (IllegalArgumentException | UnknownHostException e) {
      return Optional.empty();
    }
  }

  /** 4-byte words in native byte order; an IPv4-mapped IPv6 address becomes an IPv4 address. */
  private static InetSocketAddress address(String text) throws UnknownHostException {
    int colon = text.indexOf(':');
    if (colon < 0) {
      throw new IllegalArgumentException(text);
    }
    ByteBuffer words = ByteBuffer.wrap(HexFormat.of().parseHex(text.substring(0, colon)));
    ByteBuffer bytes = ByteBuffer.allocate(words.capacity()).order(ByteOrder.nativeOrder());
    while (words.remaining() >= Integer.BYTES) {
      bytes.putInt(words.getInt());
    }
    int port = Integer.parseInt(text.substring(colon + 1), 16);
    return new InetSocketAddress(InetAddress.getByAddress(bytes.array()), port);
  }
}
