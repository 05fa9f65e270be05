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

/** What a node may say of which node. */
class ClusterStateTest {
  private final ClusterState state = new ClusterState(null);

  private boolean mayBeProposed(int proposer, Command command) {
    return state.mayBeProposed(new Entry(proposer, 1, 1, 1, 0, command.toBytes()));
  }

  private void assertOnlyItself(Command ofTheFirst) {
    assertTrue(mayBeProposed(0, ofTheFirst));
    assertFalse(mayBeProposed(1, ofTheFirst));
  }

  @Test
  void aNodeJoinsLeavesAndReleasesOnlyItself() {
    assertOnlyItself(
        new Join(new Member(0, 1, "n0", "", "1", List.of(), List.of(), false), "bridge"));
    assertOnlyItself(new Leave(0, 1));
    assertOnlyItself(new Release(InstanceId.first(new ServerId("s")), 0, 1, 7));
  }

  @Test
  void whatAllNodesShareIsEverybodys() {
    assertTrue(mayBeProposed(1, new Remove("map", "key", 0)));
    assertTrue(mayBeProposed(1, new Look()));
  }
}
