package dev.mcpbridge.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.Command.Join;
import dev.mcpbridge.cluster.Command.Leave;
import dev.mcpbridge.cluster.Command.Release;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The state of the cluster after commands. */
class ClusterStateTest {
  private static final InstanceId INSTANCE = InstanceId.first(new ServerId("s"));

  private byte[] bytes;

  private ClusterState after(Command command, long millis) {
    bytes = ClusterState.after(bytes, command, millis);
    ClusterState state = new ClusterState();
    state.restore(bytes);
    return state;
  }

  private static Join join(int slot, long incarnation) {
    return new Join(
        new Member(
            slot, incarnation, "n" + slot, "a:1", "", "1", List.of(), List.of(INSTANCE), false),
        "bridge " + slot);
  }

  @Test
  void firstMemberNamesTheBridgeAndOwnsItsInstances() {
    ClusterState state = after(join(1, 7), 1_000);

    assertEquals("bridge 1", state.bridge());
    assertEquals(new OwnerEpoch(1, 7, 1_000), state.holding(INSTANCE).orElseThrow());
    assertEquals("bridge 1", after(join(2, 7), 1_001).bridge());
  }

  @Test
  void ownerKeepsAnInstanceUntilItLeaves() {
    after(join(1, 7), 1_000);
    int owner = after(join(2, 8), 1_001).holding(INSTANCE).orElseThrow().slot();

    ClusterState state = after(new Leave(owner, owner + 6), 1_002);

    assertEquals(1, owner);
    assertEquals(new OwnerEpoch(2, 8, 1_002), state.holding(INSTANCE).orElseThrow());
  }

  @Test
  void epochGrowsEvenIfTheClockGoesBack() {
    after(join(1, 7), 1_000);

    ClusterState state = after(join(1, 8), 10);

    assertEquals(new OwnerEpoch(1, 8, 1_001), state.holding(INSTANCE).orElseThrow());
  }

  @Test
  void lateCommandOfAnEarlierProcessChangesNothing() {
    after(join(1, 7), 1_000);
    ClusterState before = after(join(1, 8), 1_001);

    ClusterState state = after(new Leave(1, 7), 1_002);
    state = after(new Release(INSTANCE, 1, 7, 1_000), 1_003);

    assertEquals(before.holding(INSTANCE), state.holding(INSTANCE));
    assertTrue(state.member(1).isPresent());
  }
}
