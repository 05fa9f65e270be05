package dev.mcpbridge.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The assignment of instances while nodes join and leave. */
class PlacementTest {
  private static final ServerId SERVER = new ServerId("s");

  private final Map<Integer, Member> members = new TreeMap<>();
  private final Map<InstanceId, OwnerEpoch> holdings = new HashMap<>();

  private void join(int slot, int instances) {
    join(slot, InstanceId.all(SERVER, instances), false);
  }

  private void join(int slot, List<InstanceId> instances, boolean isLeaving) {
    members.put(slot, new Member(slot, 7, "n" + slot, "", "", "", List.of(), instances, isLeaving));
  }

  private void leave(int slot) {
    members.remove(slot);
    holdings.values().removeIf(ownerEpoch -> ownerEpoch.slot() == slot);
  }

  private Placement placement() {
    return Placement.of(members.values(), holdings);
  }

  /**
   * Applies the placement, as when all instances that must move have stopped.
   *
   * @return the number of instances that got an owner or another one
   */
  private long settle() {
    Map<InstanceId, OwnerEpoch> before = Map.copyOf(holdings);
    Placement target = placement();
    target
        .assigned()
        .forEach(
            instanceId -> {
              int slot = target.assigned(instanceId).orElseThrow().slot();
              holdings.put(instanceId, new OwnerEpoch(slot, 7, 0));
            });
    return holdings.entrySet().stream()
        .filter(now -> !now.getValue().equals(before.get(now.getKey())))
        .count();
  }

  private List<Integer> loads() {
    return members.keySet().stream()
        .map(slot -> (int) holdings.values().stream().filter(h -> h.slot() == slot).count())
        .sorted()
        .toList();
  }

  @ParameterizedTest
  @CsvSource({"1,3,'0,0,1'", "2,3,'0,1,1'", "3,3,'1,1,1'", "4,3,'1,1,2'", "7,2,'3,4'", "5,1,'5'"})
  void instancesAreSpreadEvenly(int instances, int nodes, String expected) {
    IntStream.range(0, nodes).forEach(slot -> join(slot, instances));

    settle();

    assertEquals(expected, String.join(",", loads().stream().map(String::valueOf).toList()));
    assertEquals(0, settle());
  }

  @Test
  void lostNodeMovesOnlyItsOwnInstances() {
    IntStream.range(0, 3).forEach(slot -> join(slot, 3));
    settle();

    leave(1);

    assertEquals(1, settle());
    assertEquals(List.of(1, 2), loads());
  }

  @Test
  void newNodeMovesOnlyTheInstancesItGets() {
    IntStream.range(0, 2).forEach(slot -> join(slot, 6));
    settle();

    join(2, 6);

    assertEquals(2, settle());
    assertEquals(List.of(2, 2, 2), loads());
  }

  @Test
  void leavingNodeGetsNoInstances() {
    IntStream.range(0, 2).forEach(slot -> join(slot, 2));
    settle();

    join(0, InstanceId.all(SERVER, 2), true);

    placement().assigned().forEach(p -> assertEquals(1, placement().assigned(p).get().slot()));
    assertEquals(2, placement().instances(SERVER).size());
  }

  @Test
  void removedInstanceStaysKnownWhileItRuns() {
    join(0, 3);
    settle();

    join(0, 1);

    assertEquals(InstanceId.all(SERVER, 3), List.copyOf(placement().instances(SERVER)));
    assertTrue(placement().assigned(new InstanceId(SERVER, 3)).isEmpty());
  }

  @Test
  void instanceRunsWhereItIsConfigured() {
    join(0, 1);
    join(1, 4);

    settle();

    assertEquals(4, holdings.size());
    IntStream.rangeClosed(2, 4)
        .forEach(number -> assertEquals(1, holdings.get(new InstanceId(SERVER, number)).slot()));
  }

  @Test
  void serversWithFewInstancesUseAllNodes() {
    List<InstanceId> all = new ArrayList<>();
    IntStream.range(0, 300).forEach(i -> all.addAll(InstanceId.all(new ServerId("s" + i), 2)));
    IntStream.range(0, 3).forEach(slot -> join(slot, all, false));

    settle();

    loads().forEach(load -> assertTrue(load > 150 && load < 250, loads().toString()));
  }

  /** After each change all instances have owners, evenly, and a second run moves nothing. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void placementStaysEvenAndStableUnderChurn(int seed) {
    Random random = new Random(seed);
    int instances = 1 + random.nextInt(7);
    join(0, instances);
    settle();
    for (int step = 0; step < 300; step++) {
      int slot = random.nextInt(5);
      boolean isMember = members.containsKey(slot);
      List<Integer> before = loads();
      if (isMember && members.size() > 1) {
        long had = holdings.values().stream().filter(h -> h.slot() == slot).count();
        leave(slot);
        assertEquals(had, settle(), "after " + before);
      } else if (!isMember) {
        join(slot, instances);
        long moved = settle();
        assertEquals(moved, holdings.values().stream().filter(h -> h.slot() == slot).count());
      }
      assertEquals(instances, holdings.size());
      assertTrue(loads().get(loads().size() - 1) - loads().get(0) <= 1, loads().toString());
      assertEquals(0, settle());
    }
  }
}
