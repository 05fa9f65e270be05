package dev.mcpbridge.cluster;

import java.util.List;

/** Where servers that any node can run are when nothing moves any more. */
public final class OwnerTable {
  private OwnerTable() {}

  /**
   * @param nodes their numbers, from 1
   */
  public static int of(String server, List<Integer> nodes) {
    List<Member> members =
        nodes.stream()
            .map(n -> new Member(n - 1, 0, "", "", "", List.of(), List.of(), false))
            .toList();
    return Rendezvous.row(server, members).get(0).slot() + 1;
  }
}
