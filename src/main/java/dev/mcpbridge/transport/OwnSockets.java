package dev.mcpbridge.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Whether a client of this machine is something that this bridge has started, or its own requests
 * to servers. Only Linux tells whose a socket is; elsewhere only the bridge's own are known.
 */
public final class OwnSockets {
  private static final List<Path> TABLES =
      List.of(Path.of("/proc/self/net/tcp"), Path.of("/proc/self/net/tcp6"));

  /** Where this bridge is a client. */
  private static final Set<InetSocketAddress> SENDING = ConcurrentHashMap.newKeySet();

  private OwnSockets() {}

  static void sends(InetSocketAddress from) {
    SENDING.add(from);
  }

  static void sendsNoMore(InetSocketAddress from) {
    SENDING.remove(from);
  }

  /**
   * Blocks for some milliseconds. A client of this machine that goes before it can be asked for
   * counts as own: it wants no answer, and nobody can say who it was.
   *
   * @param client its address as the listener sees it
   * @param server the listener's
   */
  public static boolean isOwn(InetSocketAddress client, InetSocketAddress server) {
    if (SENDING.contains(client)) {
      return true;
    }
    boolean isListenerTold =
        table().stream().anyMatch(entry -> entry.local().getPort() == server.getPort());
    if (!isListenerTold || !isHere(client.getAddress())) {
      return false;
    }
    Set<String> before = links(client, server);
    boolean isHeld = Orphans.family().stream().anyMatch(process -> holds(process.pid(), before));
    return isHeld || Collections.disjoint(before, links(client, server));
  }

  /** Read again where there are none: the kernel does not tell all connections at one moment. */
  private static Set<String> links(InetSocketAddress client, InetSocketAddress server) {
    Set<String> links = links(table(), client, server);
    return links.isEmpty() ? links(table(), client, server) : links;
  }

  /** A listener that is reached through a redirection is not the one that its client knows. */
  private static Set<String> links(
      List<TcpEntry> table, InetSocketAddress client, InetSocketAddress server) {
    List<TcpEntry> clients =
        table.stream().filter(entry -> entry.local().equals(client) && entry.inode() != 0).toList();
    List<TcpEntry> exact = clients.stream().filter(entry -> entry.remote().equals(server)).toList();
    return (exact.isEmpty() ? clients : exact)
        .stream().map(entry -> "socket:[" + entry.inode() + "]").collect(Collectors.toSet());
  }

  private static List<TcpEntry> table() {
    return TABLES.stream()
        .flatMap(table -> ProcFs.lines(table).stream())
        .map(TcpEntry::parse)
        .flatMap(Optional::stream)
        .toList();
  }

  private static boolean isHere(InetAddress address) {
    try {
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (IOException e) {
      return true;
    }
  }

  /** What a process of another user holds cannot be seen. */
  private static boolean holds(long pid, Set<String> links) {
    try (DirectoryStream<Path> open =
        Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "fd"))) {
      for (Path descriptor : open) {
        if (links.contains(ProcFs.link(descriptor))) {
          return true;
        }
      }
    } catch (IOException | RuntimeException e) {
      return false;
    }
    return false;
  }
}
