package dev.mcpbridge.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Optional;

/**
 * One end of a TCP connection, a line of {@code /proc/net/tcp} or {@code tcp6} (proc(5)).
 *
 * @param inode of its socket; 0 where no process holds it any more
 */
record TcpEntry(InetSocketAddress local, InetSocketAddress remote, long inode) {
  private static final int LOCAL = 1;
  private static final int REMOTE = 2;
  private static final int INODE = 9;

  /** Empty for the heading. */
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

  /** Words of four bytes, each in the order of the machine; of IPv4 within IPv6 the former. */
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
