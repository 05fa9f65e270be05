package dev.mcpbridge.cluster;

import java.util.List;

/** The owners of servers that any node can run, once no instance moves. */
public final class OwnerTable {
  private OwnerTable() {}

  /**
   * @param nodes numbers of the nodes, from 1
   */
  public static int of(String server, List<Integer> nodes) {
    List<Member> members =
        nodes.stream()
            .map(n -> new Member(n, 0, "", "", "", "", List.of(), List.of(), false))
            .toList();
    return Rendezvous.rank(server, members).get(0).slot();
  }
}
