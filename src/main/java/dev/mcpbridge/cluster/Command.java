package dev.mcpbridge.cluster;

import dev.mcpbridge.model.InstanceId;

/** A change of the {@link ClusterState}. */
sealed interface Command {

  /**
   * A node joins, or its description has changed.
   *
   * @param bridge the id of the bridge if it has none yet
   */
  record Join(Member member, String bridge) implements Command {}

  /** A node leaves: it has left itself, or another node has declared it lost. */
  record Leave(int slot, long incarnation) implements Command {}

  /** An instance has stopped at the node that owned it. */
  record Release(InstanceId instanceId, int slot, long incarnation, long epoch)
      implements Command {}
}
