package dev.mcpbridge.cluster.link;

import java.util.List;

/**
 * Who this node is among the members.
 *
 * @param members addresses, {@code host:port}, in an order that all have
 * @param slot which of them it is
 * @param node its name for people
 * @param incarnation of this life
 */
public record Identity(
    String cluster, List<String> members, int slot, String node, String version, long incarnation) {

  public Identity {
    members = List.copyOf(members);
  }
}
