package dev.mcpbridge.cluster.agreement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgreementTest {

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void nodesThatStartTogetherAgreeAtOnce(int size) {
    Simulation cluster = new Simulation(size, new SplittableRandom(1)).startAll();
    cluster.run(1_000);
    cluster.nodes[size - 1].propose("hello");
    cluster.run(500);
    for (Simulation.Node node : cluster.nodes) {
      assertTrue(node.has("hello"), cluster::picture);
    }
    assertTrue(cluster.isSettled(), cluster::picture);
  }

  @Test
  void aMajorityBeginsWithoutTheRestAndTheRestJoins() {
    Simulation cluster = new Simulation(3, new SplittableRandom(2));
    cluster.nodes[1].start();
    cluster.nodes[2].start();
    cluster.run(4_000);
    cluster.nodes[2].propose("first");
    cluster.run(200);
    cluster.nodes[0].start();
    cluster.run(1_000);
    assertTrue(cluster.nodes[0].has("first"), cluster::picture);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aNodeThatDiesIsDeclaredDeadWithinTwoAndAHalfLeases(int slot) {
    Simulation cluster = new Simulation(3, new SplittableRandom(3)).startAll();
    cluster.run(2_000);
    cluster.nodes[slot].crash();
    cluster.run(3_750);
    for (Simulation.Node node : cluster.nodes) {
      if (node.isAlive) {
        assertEquals(2, node.up.size(), cluster::picture);
        assertTrue(!node.up.contains(slot), cluster::picture);
      }
    }
    cluster.nodes[slot].start();
    cluster.run(2_000);
    assertTrue(cluster.isSettled(), cluster::picture);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5})
  void aPrimaryThatLeavesInPeaceIsSucceededAtOnce(int size) {
    Simulation cluster = new Simulation(size, new SplittableRandom(4)).startAll();
    cluster.run(2_000);
    Simulation.Node first = cluster.nodes[cluster.nodes[0].replica.primary()];
    first.resign();
    cluster.run(100);
    assertTrue(cluster.nodes[(first.slot + 1) % size].replica.isPrimary(), cluster::picture);
  }

  @Test
  void whatAMajorityKnowsSurvivesItsPrimary() {
    Simulation cluster = new Simulation(3, new SplittableRandom(5)).startAll();
    cluster.run(2_000);
    for (int i = 0; i < 6_000; i++) {
      cluster.nodes[1].propose("n" + i);
    }
    cluster.run(100);
    cluster.nodes[0].crash();
    cluster.run(4_000);
    cluster.nodes[0].start();
    cluster.run(2_000);
    assertTrue(cluster.nodes[0].has("n0"), cluster::picture);
    assertTrue(cluster.nodes[0].has("n5999"), cluster::picture);
    assertTrue(cluster.isSettled(), cluster::picture);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5})
  void afterEverythingWasLostTheyBeginAnew(int size) {
    Simulation cluster = new Simulation(size, new SplittableRandom(6)).startAll();
    cluster.run(2_000);
    for (Simulation.Node node : cluster.nodes) {
      node.crash();
      node.start();
    }
    cluster.run(3_000);
    assertTrue(cluster.isSettled(), cluster::picture);
  }

  @Test
  void twoOfThreeBeginAnewWhereOneKnowsNothingAndTheThirdDoesNotComeBack() {
    Simulation cluster = new Simulation(3, new SplittableRandom(8)).startAll();
    cluster.run(2_000);
    cluster.nodes[1].crash();
    cluster.nodes[2].crash();
    cluster.run(3_000);
    cluster.nodes[1].start();
    cluster.run(25_000);
    assertTrue(cluster.isSettled(), cluster::picture);
    cluster.nodes[2].start();
    cluster.run(3_000);
    assertTrue(cluster.isSettled(), cluster::picture);
  }

  @Test
  void oneOfTwoThatComesBackFindsTheOtherOne() {
    Simulation cluster = new Simulation(2, new SplittableRandom(7)).startAll();
    cluster.run(2_000);
    cluster.nodes[1].crash();
    cluster.run(1_000);
    cluster.nodes[1].start();
    cluster.run(10_000);
    assertTrue(cluster.isSettled(), cluster::picture);
  }

  /** Kill, freeze, cut, lose, delay, resign, heal: in any order, and then all is well again. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5})
  void nothingThatMustNotHappenHappensUnderAnySchedule(int size) {
    int schedules = Integer.getInteger("agreement.schedules", 40);
    int first = Integer.getInteger("agreement.first", 0);
    int[] millis = new int[schedules];
    for (int i = 0; i < schedules; i++) {
      try {
        millis[i] = play(size, first + i);
      } catch (AssertionError e) {
        throw new AssertionError("seed " + (first + i) + ": " + e.getMessage(), e);
      }
    }
    Arrays.sort(millis);
    System.out.printf(
        "%d nodes settle in %d ms (median), at most %d ms%n",
        size, millis[schedules / 2], millis[schedules - 1]);
  }

  private static int play(int size, int seed) {
    Random random = new Random(seed);
    Simulation cluster = new Simulation(size, new SplittableRandom(seed)).startAll();
    int number = 0;
    for (int step = 0; step < 60; step++) {
      disturb(cluster, random);
      for (int i = random.nextInt(3); i >= 0; i--) {
        for (Simulation.Node each : cluster.nodes) {
          if (each.isAlive && !each.isFrozen) {
            each.propose("c" + number++);
          }
        }
        cluster.run(random.nextInt(1_000));
      }
    }
    cluster.heal();
    cluster.maxDelayMillis = 3;
    for (Simulation.Node node : cluster.nodes) {
      cluster.thaw(node.slot);
      if (!node.isAlive) {
        node.start();
      }
    }
    int millis = cluster.settle();
    cluster.run(6_000); // what was still under way may disturb it once more
    cluster.settle();
    return millis;
  }

  private static void disturb(Simulation cluster, Random random) {
    int slot = random.nextInt(cluster.nodes.length);
    int other = random.nextInt(cluster.nodes.length);
    Simulation.Node node = cluster.nodes[slot];
    switch (random.nextInt(13)) {
      case 0 -> node.crash();
      case 1 -> node.start();
      case 2 -> {
        node.crash();
        node.start();
      }
      case 3 -> cluster.freeze(slot);
      case 4 -> cluster.thaw(slot);
      case 5 -> cluster.isolate(slot);
      case 6 -> cluster.cut(slot, other);
      case 7 -> cluster.cutOneWay(slot, other);
      case 8 -> cluster.heal();
      case 9 -> cluster.loss = random.nextDouble() * 0.3;
      case 10 -> cluster.late = random.nextDouble() * 0.05;
      case 11 -> {
        for (Simulation.Node each : cluster.nodes) {
          each.resign();
        }
      }
      default -> cluster.maxDelayMillis = 1 + random.nextInt(200);
    }
  }
}
