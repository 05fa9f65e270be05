package dev.mcpbridge.cluster;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.Command.Join;
import dev.mcpbridge.cluster.Command.Leave;
import dev.mcpbridge.cluster.Command.Look;
import dev.mcpbridge.cluster.Command.Release;
import dev.mcpbridge.cluster.Command.Remove;
import dev.mcpbridge.cluster.agreement.Entry;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The commands that a node may propose. */
class ClusterStateTest {
  private final ClusterState state = new ClusterState(null);

  private boolean mayBeProposed(int proposer, Command command) {
    return state.mayBeProposed(new Entry(proposer, 1, 1, 1, 0, command.toBytes()));
  }

  private void assertOnlyItself(Command command) {
    assertTrue(mayBeProposed(0, command));
    assertFalse(mayBeProposed(1, command));
  }

  @Test
  void nodeJoinsLeavesAndReleasesOnlyItself() {
    assertOnlyItself(
        new Join(new Member(0, 1, "n0", "", "1", List.of(), List.of(), false), "bridge"));
    assertOnlyItself(new Leave(0, 1));
    assertOnlyItself(new Release(InstanceId.first(new ServerId("s")), 0, 1, 7));
  }

  @Test
  void anyNodeMayChangeSharedMaps() {
    assertTrue(mayBeProposed(1, new Remove("map", "key", 0)));
    assertTrue(mayBeProposed(1, new Look()));
  }
}
