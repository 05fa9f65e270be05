package dev.mcpbridge.cluster;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Decides how a node with an empty folder starts, so that never two clusters begin: it begins a
 * cluster only if all nodes of the list are there and none has been part of one, or, after a while,
 * more than half of them. Otherwise it joins the cluster that others are part of.
 */
final class FirstStart {
  private FirstStart() {}

  /** What a node has in its folder. */
  enum Folder {
    EMPTY,
    /** It has begun a cluster, but no majority has been there yet. */
    BEGINNING,
    /** It has been part of a cluster. */
    ESTABLISHED
  }

  /**
   * What a node tells about itself.
   *
   * @param members the configured list of the first nodes
   * @param servers servers of the coordination store by number, if the node has been part of a
   *     cluster
   * @param number number of the asking node; 0 if it is not known
   */
  record Answer(Folder folder, List<String> members, Map<Integer, String> servers, int number) {

    byte[] toBytes() {
      return new WireWriter()
          .octet(folder.ordinal())
          .list(members, WireWriter::text)
          .list(servers.entrySet(), (w, s) -> w.number(s.getKey()).text(s.getValue()))
          .number(number)
          .toBytes();
    }

    static Answer of(byte[] bytes) {
      WireReader in = new WireReader(bytes);
      Folder folder = in.choice(Folder.values());
      List<String> members = in.list(WireReader::text);
      Map<Integer, String> servers = new TreeMap<>();
      in.list(r -> servers.put((int) r.number(), r.text()));
      return new Answer(folder, members, servers, (int) in.number());
    }
  }

  /** What to do. */
  sealed interface Decision {}

  record Wait() implements Decision {}

  /** The lists of two nodes differ. */
  record Conflict(String address, List<String> members) implements Decision {}

  /** Begin a cluster with these servers. */
  record Begin(int number, Map<Integer, String> servers) implements Decision {}

  /** Join the cluster that has these servers. */
  record Join(int number, Map<Integer, String> servers) implements Decision {}

  /**
   * @param answers of the other nodes, by address
   * @param hasWaited whether missing nodes had enough time to come
   */
  static Decision decide(
      String self, List<String> members, Map<String, Answer> answers, boolean hasWaited) {
    for (Answer answer : answers.values()) {
      if (answer.folder() == Folder.ESTABLISHED) {
        return answers.values().stream()
            .filter(other -> other.folder() == Folder.ESTABLISHED && other.number() > 0)
            .findFirst()
            .<Decision>map(other -> new Join(other.number(), other.servers()))
            .orElseGet(Wait::new);
      }
    }
    if (!members.contains(self)) {
      return new Wait();
    }
    for (Map.Entry<String, Answer> other : answers.entrySet()) {
      if (members.contains(other.getKey()) && !sameNodes(members, other.getValue().members())) {
        return new Conflict(other.getKey(), other.getValue().members());
      }
    }
    long there = 1 + answers.keySet().stream().filter(members::contains).count();
    boolean isEnough = there == members.size() || hasWaited && there > members.size() / 2;
    return isEnough ? new Begin(number(members, self), servers(members)) : new Wait();
  }

  private static boolean sameNodes(List<String> members, List<String> others) {
    return Objects.equals(new TreeSet<>(members), new TreeSet<>(others));
  }

  /** The number of a first node: its place in the list, from 1. */
  static int number(List<String> members, String address) {
    return members.indexOf(address) + 1;
  }

  static Map<Integer, String> servers(List<String> members) {
    Map<Integer, String> servers = new TreeMap<>();
    members.forEach(member -> servers.put(number(members, member), server(member)));
    return servers;
  }

  /** The address of a node whose server is {@code host:port:port}. */
  static String address(String server) {
    String hostAndPort = server.substring(0, server.lastIndexOf(':'));
    int colon = hostAndPort.lastIndexOf(':');
    int port = Integer.parseInt(hostAndPort.substring(colon + 1));
    return hostAndPort.substring(0, colon) + ":" + (port - 1);
  }

  /** The ports of the coordination store follow the port for messages. */
  static String server(String address) {
    int colon = address.lastIndexOf(':');
    int port = Integer.parseInt(address.substring(colon + 1));
    return address.substring(0, colon) + ":" + (port + 1) + ":" + (port + 2);
  }
}
