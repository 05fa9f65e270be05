package dev.mcpbridge.cluster.agreement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.agreement.Message.DoViewChange;
import dev.mcpbridge.cluster.agreement.Message.Founded;
import dev.mcpbridge.cluster.agreement.Message.GetState;
import dev.mcpbridge.cluster.agreement.Message.Hail;
import dev.mcpbridge.cluster.agreement.Message.Hailed;
import dev.mcpbridge.cluster.agreement.Message.Hailed.Kind;
import dev.mcpbridge.cluster.agreement.Message.NewState;
import dev.mcpbridge.cluster.agreement.Message.Ping;
import dev.mcpbridge.cluster.agreement.Message.Pong;
import dev.mcpbridge.cluster.agreement.Message.Prepare;
import dev.mcpbridge.cluster.agreement.Message.PrepareOk;
import dev.mcpbridge.cluster.agreement.Message.Propose;
import dev.mcpbridge.cluster.agreement.Message.Signed;
import dev.mcpbridge.cluster.agreement.Message.StartView;
import dev.mcpbridge.cluster.agreement.Message.StartViewChange;
import dev.mcpbridge.cluster.agreement.Replica.Status;
import dev.mcpbridge.wire.WireWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What one replica must do where a random schedule seldom leads. */
class ReplicaTest {

  @Test
  void aLeaseThatWasGrantedToTheLifeBeforeIsNone() {
    Lone node = new Lone(3, 1).following();
    node.lives[1] = 4;
    node.hears(0, node.ping(0, Lone.LEASE));
    assertTrue(node.replica.leaseUntil(node.now) < node.now);
    node.lives[1] = 5;
    node.hears(0, node.ping(0, Lone.LEASE));
    assertTrue(node.replica.leaseUntil(node.now) > node.now);
  }

  @Test
  void whatAMessageLeavesOutOfTheLivesMakesItUnheard() {
    Lone node = new Lone(3, 1).following();
    node.replica.receive(new Signed(2, Lone.GENERATION, new long[1], new Hail(1)), node.now);
    assertTrue(node.sent(Hailed.class).isEmpty());
  }

  @Test
  void whoHasJoinedAndKnowsNothingYetHasNoVote() {
    Lone node = joining();
    node.hears(2, new StartViewChange(4, true));
    node.hears(2, new StartViewChange(4, false));
    node.hears(2, new DoViewChange(4, 3, 10, 10, 0));
    node.pass(1_000);
    assertNull(node.last(StartViewChange.class));
    assertNull(node.last(DoViewChange.class));
    assertEquals(Status.FETCHING, node.replica.status());
  }

  @Test
  void whoHasJoinedAndIsToldNothingLooksForItsGroupAgain() {
    Lone node = joining();
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
    Lone node = joining();
    node.hears(0, new NewState(3, 0, 0, null, List.of()));
    assertEquals(Status.NORMAL, node.replica.status());
    node.hears(2, new StartViewChange(4, false));
    assertNull(node.last(StartViewChange.class));
    node.now += Lone.LEASE;
    node.hears(2, new StartViewChange(4, false));
    assertEquals(4, node.last(StartViewChange.class).view());
  }

  @Test
  void aPrimaryThatIsSucceededTellsTheNextOneHowLongItsLeasesGoOn() {
    Lone node = new Lone(5, 0).leading();
    node.now += 1_000 * Lone.MILLI;
    node.isFollowedBy(1, 2);
    node.now += 100 * Lone.MILLI;
    node.hears(1, new StartView(1, 0, 0));
    node.hears(1, new NewState(1, 0, 0, null, List.of()));
    node.hears(1, new StartViewChange(2, true));
    node.hears(3, new StartViewChange(2, true));
    node.hears(4, new StartViewChange(2, true));
    assertEquals(1_400 * Lone.MILLI, node.last(DoViewChange.class).promiseNanos());
  }

  @Test
  void aPrimaryThatWaitsForLeasesOfTheLastOneTellsTheNextOne() {
    Lone node = new Lone(5, 1).following();
    node.now += Lone.LEASE; // its own promise is over
    node.hears(2, new DoViewChange(1, 0, 0, 0, 0));
    node.hears(3, new DoViewChange(1, 0, 0, 0, 1_200 * Lone.MILLI));
    assertTrue(node.replica.isPrimary());
    node.now += 100 * Lone.MILLI;
    node.hears(2, new StartView(2, 0, 0));
    node.hears(2, new NewState(2, 0, 0, null, List.of()));
    node.hears(2, new StartViewChange(3, true));
    node.hears(3, new StartViewChange(3, true));
    node.hears(4, new StartViewChange(3, true));
    assertEquals(1_100 * Lone.MILLI, node.last(DoViewChange.class).promiseNanos());
  }

  @Test
  void aPrimaryStandsByLeasesThatItGaveByThePromiseOfALifeThatIsOver() {
    Lone node = new Lone(5, 0).leading();
    node.isFollowedBy(1, 2, 3, 4);
    node.now += 1_400 * Lone.MILLI;
    node.isFollowedBy(1, 2);
    assertTrue(node.replica.leaseUntil(node.now) > node.now + 1_400 * Lone.MILLI);
    node.lives[2] = 6;
    node.now += 200 * Lone.MILLI;
    node.hears(3, new StartViewChange(1, false));
    assertTrue(node.replica.leaseUntil(node.now) < node.now);
    assertNull(node.last(StartViewChange.class));
  }

  @Test
  void aVoteOfALifeThatIsOverDoesNotMakeAPrimaryThatHadToFetchFirst() {
    Lone node = new Lone(5, 1).following();
    node.now += Lone.LEASE;
    node.hears(2, new DoViewChange(1, 0, 1, 0, 0));
    node.hears(3, new DoViewChange(1, 0, 0, 0, 0));
    assertEquals(1, node.last(GetState.class).view());
    node.lives[3] = 6;
    node.hears(2, new NewState(1, 0, 0, null, List.of(node.entry(2, 1, "a"))));
    assertFalse(node.replica.isPrimary());
    node.hears(4, new DoViewChange(1, 0, 0, 0, 0));
    assertTrue(node.replica.isPrimary());
  }

  @Test
  void whoGivesUpItsGroupDoesNotEnterItAsOneOfItsFounders() {
    Lone node = new Lone(3, 1).following();
    giveUp(node);
    node.generation = Lone.GENERATION;
    node.hears(0, new Founded(Lone.GENERATION, 0));
    assertEquals(Status.OUTSIDE, node.replica.status());
  }

  @Test
  void anOldAnswerMakesNobodyGiveUpWhoHasJustLostItsPrimary() {
    Lone node = new Lone(3, 1).following();
    node.pass(1_600);
    node.generation = 0;
    node.hears(0, new Hailed(node.replica.incarnation(), Kind.OUTSIDE, 0, 0));
    node.hears(2, new Hailed(node.replica.incarnation(), Kind.OUTSIDE, 0, 0));
    assertTrue(node.replica.status() != Status.OUTSIDE);
  }

  @Test
  void aNodeThatLearnsOfALaterLifeOfItsOwnBeginsAnew() {
    Lone node = new Lone(3, 1).following();
    node.lives[1] = 9;
    node.hears(0, node.ping(0, Lone.LEASE));
    assertEquals(Status.OUTSIDE, node.replica.status());
    assertEquals(10, node.replica.incarnation());
  }

  @Test
  void whatIsWantedFromOutsideIsWantedOfTheLifeThatJoins() {
    Lone node = new Lone(3, 1);
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
  void whatASnapshotContainsIsNotSentForEver() {
    Lone node = new Lone(3, 1).following();
    long number = node.propose("mine");
    Entry mine = node.last(Propose.class).entry();
    Executed executed = new Executed();
    executed.add(mine);
    WireWriter snapshot = new WireWriter();
    executed.write(snapshot);
    snapshot.bytes(new byte[0]);
    node.hears(0, new Ping(0, 9, 9, node.now, 0, 0));
    node.hears(0, new NewState(0, 9, 9, snapshot.toBytes(), List.of()));
    assertEquals(9, node.replica.committed());
    node.hears(0, new Prepare(0, 10, 10, mine));
    node.sent.clear();
    node.pass(400);
    assertEquals(10, node.replica.committed());
    assertEquals(1, number);
    assertNull(node.last(Propose.class));
  }

  @Test
  void aPrimaryThatNobodyFollowsDoesNotRepeatItselfInItsLog() {
    Lone node = new Lone(3, 0).leading();
    node.propose("mine");
    node.pass(2_000);
    assertEquals(1, node.replica.lastOp());
    node.isFollowedBy(1);
    assertEquals(List.of("mine"), node.applied);
  }

  @Test
  void aPrimaryThatWasFrozenDeclaresNobodyBeforeHeCouldAnswer() {
    Lone node = new Lone(3, 0).leading();
    node.isFollowedBy(1, 2);
    node.now += 10 * Lone.LEASE;
    node.isFollowedBy(1);
    assertFalse(node.replica.isOver(2, node.now));
    node.now += Lone.LEASE / 2;
    node.isFollowedBy(1);
    node.now += Lone.LEASE / 2;
    assertTrue(node.replica.isOver(2, node.now));
  }

  @Test
  void aNodeThatIsDeclaredActsAgainOnlyWhenItKnows() {
    Lone node = new Lone(3, 0).leading();
    for (int i = 0; i < 4; i++) {
      node.isFollowedBy(1);
      node.now += Lone.LEASE / 2;
    }
    node.isFollowedBy(1);
    assertTrue(node.replica.declare(2, new byte[] {1}, node.now));
    long op = node.replica.lastOp();
    node.hears(2, new Pong(0, op - 1, node.now, node.now));
    node.hears(1, new PrepareOk(0, op));
    node.pass(200);
    assertEquals(0, lastPingTo(node, 2).grantNanos());
    node.hears(2, new PrepareOk(0, op));
    node.isFollowedBy(1);
    node.pass(200);
    assertTrue(lastPingTo(node, 2).grantNanos() > 0);
  }

  private static Ping lastPingTo(Lone node, int slot) {
    return node.sent.stream()
        .filter(sent -> sent.to() == slot && sent.message() instanceof Ping)
        .map(sent -> (Ping) sent.message())
        .reduce((first, second) -> second)
        .orElseThrow();
  }

  /** A node that has just begun to live, and was told of its group, but not what that knows. */
  private static Lone joining() {
    Lone node = new Lone(3, 1);
    hailed(node);
    assertEquals(Status.FETCHING, node.replica.status());
    return node;
  }

  private static void hailed(Lone node) {
    node.hears(0, new Hailed(node.replica.incarnation(), Kind.PRIMARY, 3, 7));
    node.hears(2, new Hailed(node.replica.incarnation(), Kind.NORMAL, 3, 7));
  }

  private static void giveUp(Lone node) {
    node.pass(5_000);
    node.generation = 0;
    node.hears(0, new Hailed(node.replica.incarnation(), Kind.OUTSIDE, 0, 0));
    node.hears(2, new Hailed(node.replica.incarnation(), Kind.OUTSIDE, 0, 0));
    assertEquals(Status.OUTSIDE, node.replica.status());
    node.lives[node.self] = node.replica.incarnation();
  }
}
