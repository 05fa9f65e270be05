package dev.mcpbridge.cluster.agreement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.agreement.Message.DoViewChange;
import dev.mcpbridge.cluster.agreement.Message.Founded;
import dev.mcpbridge.cluster.agreement.Message.Hail;
import dev.mcpbridge.cluster.agreement.Message.Hailed;
import dev.mcpbridge.cluster.agreement.Message.Hailed.Kind;
import dev.mcpbridge.cluster.agreement.Message.NewState;
import dev.mcpbridge.cluster.agreement.Message.Propose;
import dev.mcpbridge.cluster.agreement.Message.Signed;
import dev.mcpbridge.cluster.agreement.Message.StartViewChange;
import dev.mcpbridge.cluster.agreement.Replica.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a replica that comes, or comes back, must do where a random schedule seldom leads. */
class ReplicaTest {

  @Test
  void whatAMessageLeavesOutOfTheLivesMakesItUnheard() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.replica.receive(
        new Signed(2, SingleReplica.GENERATION, new long[1], new Hail(1)), node.now);
    assertTrue(node.sent(Hailed.class).isEmpty());
  }

  @Test
  void whoHasJoinedAndKnowsNothingYetHasNoVote() {
    SingleReplica node = joining();
    node.hears(2, new StartViewChange(4, true));
    node.hears(2, new StartViewChange(4, false));
    node.hears(2, new DoViewChange(4, 3, 10, 10, 0));
    node.hears(2, new DoViewChange(4, 3, 10, 10, 1));
    node.pass(1_000);
    assertNull(node.last(StartViewChange.class));
    assertNull(node.last(DoViewChange.class));
    assertEquals(Status.FETCHING, node.replica.status());
  }

  @Test
  void whoHasJoinedAndIsToldNothingLooksForItsGroupAgain() {
    SingleReplica node = joining();
    long mine = node.propose("mine");
    node.pass(2_000);
    assertEquals(Status.OUTSIDE, node.replica.status());
    assertNull(node.last(DoViewChange.class));
    hailed(node);
    node.hears(0, new NewState(3, 0, 0, null, List.of()));
    node.pass(400);
    assertEquals(mine, node.last(Propose.class).entry().number());
  }

  @Test
  void whoHasJoinedKeepsThePromiseThatItMayHaveForgotten() {
    SingleReplica node = joining();
    node.hears(0, new NewState(3, 0, 0, null, List.of()));
    assertEquals(Status.NORMAL, node.replica.status());
    node.hears(2, new StartViewChange(4, false));
    assertNull(node.last(StartViewChange.class));
    node.now += SingleReplica.LEASE;
    node.hears(2, new StartViewChange(4, false));
    assertEquals(4, node.last(StartViewChange.class).view());
  }

  @Test
  void whoGivesUpItsGroupDoesNotEnterItAsOneOfItsFounders() {
    SingleReplica node = new SingleReplica(3, 1).following();
    giveUp(node);
    assertEquals(6, node.replica.incarnation());
    node.generation = SingleReplica.GENERATION;
    node.hears(0, new Founded(SingleReplica.GENERATION, 0));
    assertEquals(Status.OUTSIDE, node.replica.status());
  }

  @Test
  void anOldAnswerMakesNobodyGiveUpWhoHasJustLostItsPrimary() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.pass(1_600);
    node.generation = 0;
    node.hears(0, new Hailed(node.replica.incarnation(), Kind.OUTSIDE, 0, 0));
    node.hears(2, new Hailed(node.replica.incarnation(), Kind.OUTSIDE, 0, 0));
    assertTrue(node.replica.status() != Status.OUTSIDE);
  }

  @Test
  void aNodeThatLearnsOfALaterLifeOfItsOwnBeginsAnew() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.lives[1] = 9;
    node.hears(0, node.ping(0, SingleReplica.LEASE));
    assertEquals(Status.OUTSIDE, node.replica.status());
    assertEquals(10, node.replica.incarnation());
  }

  @Test
  void whatIsWantedFromOutsideIsWantedOfTheLifeThatJoins() {
    SingleReplica node = new SingleReplica(3, 1);
    long number = node.propose("mine");
    node.lives[1] = 9;
    node.hears(0, new Hail(1));
    assertEquals(10, node.replica.incarnation());
    node.lives[1] = 10;
    hailed(node);
    node.hears(0, new NewState(3, 0, 0, null, List.of()));
    node.pass(400);
    Entry mine = node.last(Propose.class).entry();
    assertEquals(number, mine.number());
    assertEquals(10, mine.incarnation());
  }

  @Test
  void aGroupOfWhichNoMajorityIsSeenIsNotJoined() {
    SingleReplica node = new SingleReplica(3, 1);
    node.hears(0, new Hailed(node.replica.incarnation(), Kind.PRIMARY, 3, 7));
    node.generation++;
    node.hears(2, new Hailed(node.replica.incarnation(), Kind.NORMAL, 3, 7));
    assertEquals(Status.OUTSIDE, node.replica.status());
  }

  @Test
  void aGroupThatMayStillDecideIsNotGivenUp() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.pass(5_000);
    node.generation = 0;
    node.hears(0, new Hailed(node.replica.incarnation(), Kind.OUTSIDE, 0, 0));
    assertTrue(node.replica.status() != Status.OUTSIDE);
  }

  /** A node that has just begun to live, and was told of its group, but not what that knows. */
  private static SingleReplica joining() {
    SingleReplica node = new SingleReplica(3, 1);
    hailed(node);
    assertEquals(Status.FETCHING, node.replica.status());
    return node;
  }

  private static void hailed(SingleReplica node) {
    node.hears(0, new Hailed(node.replica.incarnation(), Kind.PRIMARY, 3, 7));
    node.hears(2, new Hailed(node.replica.incarnation(), Kind.NORMAL, 3, 7));
  }

  private static void giveUp(SingleReplica node) {
    node.pass(5_000);
    node.generation = 0;
    node.hears(0, new Hailed(node.replica.incarnation(), Kind.OUTSIDE, 0, 0));
    node.hears(2, new Hailed(node.replica.incarnation(), Kind.OUTSIDE, 0, 0));
    assertEquals(Status.OUTSIDE, node.replica.status());
    node.lives[node.self] = node.replica.incarnation();
  }
}
