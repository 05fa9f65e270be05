package dev.mcpbridge.cluster.agreement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
      assertTrue(node.applied.contains("hello"), cluster::picture);
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
    assertTrue(cluster.nodes[0].applied.contains("first"), cluster::picture);
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

  @Test
  void aPrimaryThatLeavesInPeaceIsSucceededAtOnce() {
    Simulation cluster = new Simulation(3, new SplittableRandom(4)).startAll();
    cluster.run(2_000);
    Simulation.Node first = cluster.nodes[cluster.nodes[0].replica.primary()];
    first.replica.resign(first.clock());
    cluster.run(100);
    assertTrue(cluster.nodes[(first.slot + 1) % 3].replica.isPrimary(), cluster::picture);
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
    assertTrue(cluster.nodes[0].applied.contains("n0"), cluster::picture);
    assertTrue(cluster.nodes[0].applied.contains("n5999"), cluster::picture);
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
  void oneOfTwoThatComesBackFindsTheOtherOne() {
    Simulation cluster = new Simulation(2, new SplittableRandom(7)).startAll();
    cluster.run(2_000);
    cluster.nodes[1].crash();
    cluster.run(1_000);
    cluster.nodes[1].start();
    cluster.run(10_000);
    assertTrue(cluster.isSettled(), cluster::picture);
  }

  /** Kill, freeze, cut, lose, delay, heal: in any order, and afterwards all is well again. */
  @ParameterizedTest
  @ValueSource(ints = {3, 4, 5})
  void nothingThatMustNotHappenHappensUnderAnySchedule(int size) {
    for (int seed = 0; seed < Integer.getInteger("agreement.schedules", 60); seed++) {
      try {
        play(size, seed);
      } catch (AssertionError e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
    }
  }

  private static void play(int size, int seed) {
    Random random = new Random(seed);
    Simulation cluster = new Simulation(size, new SplittableRandom(seed)).startAll();
    int number = 0;
    for (int step = 0; step < 60; step++) {
      int slot = random.nextInt(size);
      Simulation.Node node = cluster.nodes[slot];
      switch (random.nextInt(10)) {
        case 0 -> {
          if (node.isAlive) {
            node.crash();
          }
        }
        case 1 -> {
          if (!node.isAlive) {
            node.start();
          }
        }
        case 2 -> cluster.freeze(slot);
        case 3 -> cluster.thaw(slot);
        case 4 -> cluster.isolate(slot);
        case 5 -> cluster.cut(slot, random.nextInt(size));
        case 6 -> cluster.cutOneWay(slot, random.nextInt(size));
        case 7 -> cluster.heal();
        case 8 -> cluster.loss = random.nextDouble() * 0.3;
        default -> cluster.maxDelayMillis = 1 + random.nextInt(200);
      }
      for (Simulation.Node each : cluster.nodes) {
        if (each.isAlive && !each.isFrozen) {
          each.propose("c" + number++);
        }
      }
      cluster.run(random.nextInt(3_000));
    }
    cluster.heal();
    cluster.maxDelayMillis = 3;
    for (Simulation.Node node : cluster.nodes) {
      cluster.thaw(node.slot);
      if (!node.isAlive) {
        node.start();
      }
    }
    cluster.run(20_000);
    assertTrue(cluster.isSettled(), cluster::picture);
  }
}
