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
 * Detects whether a local client is a process started by this bridge, or a connection of the bridge
 * itself. The owner of a socket can be determined on Linux only; on other systems only the bridge's
 * own connections are detected.
 */
public final class OwnSockets {
  private static final List<Path> TABLES =
      List.of(Path.of("/proc/self/net/tcp"), Path.of("/proc/self/net/tcp6"));

  private static final int ATTEMPTS = 5;

  /** Local addresses of connections in which this bridge is the client. */
  private static final Set<InetSocketAddress> OUTGOING = ConcurrentHashMap.newKeySet();

  private OwnSockets() {}

  static void addOutgoing(InetSocketAddress local) {
    OUTGOING.add(local);
  }

  static void removeOutgoing(InetSocketAddress local) {
    OUTGOING.remove(local);
  }

  /**
   * Blocks for some milliseconds. A local client that disconnects before its owner is determined
   * counts as own: its owner is unknown, and it no longer expects a response.
   *
   * @param client address of the client as seen by the listener
   * @param server address of the listener
   */
  public static boolean isOwn(InetSocketAddress client, InetSocketAddress server) {
    if (OUTGOING.contains(client)) {
      return true;
    }
    boolean isListenerListed =
        table().stream().anyMatch(entry -> entry.local().getPort() == server.getPort());
    if (!isListenerListed || !isLocal(client.getAddress())) {
      return false;
    }
    Set<String> clientSockets = sockets(client, server);
    boolean isOwnProcess =
        Orphans.ownProcesses().stream().anyMatch(process -> holds(process.pid(), clientSockets))
            && !isOfThisProgram(clientSockets);
    return isOwnProcess || Collections.disjoint(clientSockets, sockets(client, server));
  }

  /**
   * The program that embeds the bridge may be its client: a process that is being started has the
   * sockets of this one for a moment.
   */
  private static boolean isOfThisProgram(Set<String> clientSockets) {
    return holds(ProcessHandle.current().pid(), clientSockets);
  }

  /** Reads again if nothing is found: the kernel's table is not an atomic snapshot. */
  private static Set<String> sockets(InetSocketAddress client, InetSocketAddress server) {
    Set<String> sockets = sockets(table(), client, server);
    for (int i = 1; i < ATTEMPTS && sockets.isEmpty(); i++) {
      sockets = sockets(table(), client, server);
    }
    return sockets;
  }

  /** With a redirection (NAT) the client's remote address differs from the listener's. */
  private static Set<String> sockets(
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

  private static boolean isLocal(InetAddress address) {
    try {
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (IOException e) {
      return true;
    }
  }

  /** Whether a process has one of the sockets open; false for a process of another user. */
  private static boolean holds(long pid, Set<String> sockets) {
    try (DirectoryStream<Path> descriptors =
        Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "fd"))) {
      for (Path descriptor : descriptors) {
        if (sockets.contains(ProcFs.link(descriptor))) {
          return true;
        }
      }
    } catch (IOException | RuntimeException e) {
      return false;
    }
    return false;
  }
}
