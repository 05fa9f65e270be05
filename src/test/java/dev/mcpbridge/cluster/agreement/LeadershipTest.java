package dev.mcpbridge.cluster.agreement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.agreement.Message.DoViewChange;
import dev.mcpbridge.cluster.agreement.Message.GetState;
import dev.mcpbridge.cluster.agreement.Message.NewState;
import dev.mcpbridge.cluster.agreement.Message.Pong;
import dev.mcpbridge.cluster.agreement.Message.Prepare;
import dev.mcpbridge.cluster.agreement.Message.PrepareOk;
import dev.mcpbridge.cluster.agreement.Message.Propose;
import dev.mcpbridge.cluster.agreement.Message.StartView;
import dev.mcpbridge.cluster.agreement.Message.StartViewChange;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a primary must do where a random schedule seldom leads. */
class LeadershipTest {

  @Test
  void aPrimaryThatIsSucceededTellsTheNextOneHowLongItsLeasesGoOn() {
    SingleReplica node = new SingleReplica(5, 0).leading();
    node.now += 1_000 * SingleReplica.MILLI;
    node.isFollowedBy(1, 2);
    node.now += 100 * SingleReplica.MILLI;
    node.hears(1, new StartView(1, 0, 0));
    node.hears(1, new NewState(1, 0, 0, null, List.of()));
    node.hears(1, new StartViewChange(2, true));
    node.hears(3, new StartViewChange(2, true));
    node.hears(4, new StartViewChange(2, true));
    assertEquals(1_400 * SingleReplica.MILLI, node.last(DoViewChange.class).promiseNanos());
  }

  @Test
  void aPrimaryThatWaitsForLeasesOfTheLastOneTellsTheNextOne() {
    SingleReplica node = new SingleReplica(5, 1).following();
    node.now += SingleReplica.LEASE; // its own promise is over
    node.hears(2, new DoViewChange(1, 0, 0, 0, 0));
    node.hears(3, new DoViewChange(1, 0, 0, 0, 1_200 * SingleReplica.MILLI));
    assertTrue(node.replica.isPrimary());
    node.now += 100 * SingleReplica.MILLI;
    node.hears(2, new StartView(2, 0, 0));
    node.hears(2, new NewState(2, 0, 0, null, List.of()));
    node.hears(2, new StartViewChange(3, true));
    node.hears(3, new StartViewChange(3, true));
    node.hears(4, new StartViewChange(3, true));
    assertEquals(1_100 * SingleReplica.MILLI, node.last(DoViewChange.class).promiseNanos());
  }

  @Test
  void aPrimaryStandsByLeasesThatItGaveByThePromiseOfALifeThatIsOver() {
    SingleReplica node = new SingleReplica(5, 0).leading();
    node.isFollowedBy(1, 2, 3, 4);
    node.now += 1_400 * SingleReplica.MILLI;
    node.isFollowedBy(1, 2);
    assertTrue(node.replica.leaseUntil(node.now) > node.now + 1_400 * SingleReplica.MILLI);
    node.lives[2] = 6;
    node.now += 200 * SingleReplica.MILLI;
    node.hears(3, new StartViewChange(1, false));
    assertTrue(node.replica.leaseUntil(node.now) < node.now);
    assertNull(node.last(StartViewChange.class));
  }

  @Test
  void aVoteOfALifeThatIsOverDoesNotMakeAPrimaryThatHadToFetchFirst() {
    SingleReplica node = new SingleReplica(5, 1).following();
    node.now += SingleReplica.LEASE;
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
  void aPrimaryTakesFromEachOnlyWhatItMayWantItself() {
    SingleReplica node = new SingleReplica(3, 0).leading();
    node.isFollowedBy(1, 2);

    node.hears(1, new Propose(0, node.entry(2, 1, "of another")));
    node.hears(1, new Propose(0, node.entry(0, 1, "of the primary")));
    node.hears(1, new Propose(0, node.entry(1, 1, SingleReplica.NOT_ITS_OWN)));
    node.hears(1, new Propose(0, node.entry(1, 2, "mine")));

    node.hears(1, new PrepareOk(0, node.replica.lastOp()));
    assertEquals(List.of("mine"), node.applied);
  }

  @Test
  void aPrimaryThatNobodyFollowsDoesNotRepeatItselfInItsLog() {
    SingleReplica node = new SingleReplica(3, 0).leading();
    node.propose("mine");
    node.pass(2_000);
    assertEquals(1, node.replica.lastOp());
    node.isFollowedBy(1);
    assertEquals(List.of("mine"), node.applied);
  }

  @Test
  void aPrimaryThatWasFrozenDeclaresNobodyBeforeHeCouldAnswer() {
    SingleReplica node = new SingleReplica(3, 0).leading();
    node.isFollowedBy(1, 2);
    node.now += 10 * SingleReplica.LEASE;
    node.isFollowedBy(1);
    assertFalse(node.replica.isOver(2, node.now));
    node.now += SingleReplica.LEASE / 2;
    node.isFollowedBy(1);
    node.now += SingleReplica.LEASE / 2;
    assertTrue(node.replica.isOver(2, node.now));
  }

  @Test
  void whatOnlyALifeThatIsOverKeptIsNotKept() {
    SingleReplica node = new SingleReplica(5, 0).leading();
    node.isFollowedBy(1, 2);
    node.propose("mine");
    node.hears(2, new PrepareOk(0, 1));
    node.lives[2] = 6;
    node.hears(1, new PrepareOk(0, 1));
    assertEquals(0, node.replica.committed());
    node.hears(2, new PrepareOk(0, 1));
    assertEquals(1, node.replica.committed());
  }

  @Test
  void aNodeThatIsDeclaredActsAgainOnlyWhenItKnows() {
    SingleReplica node = new SingleReplica(3, 0).leading();
    for (int i = 0; i < 4; i++) {
      node.isFollowedBy(1);
      node.now += SingleReplica.LEASE / 2;
    }
    node.isFollowedBy(1);
    assertTrue(node.replica.declare(2, new byte[] {1}, node.now));
    long op = node.replica.lastOp();
    node.hears(2, new Pong(0, op - 1, node.now, node.now));
    node.hears(1, new PrepareOk(0, op));
    node.pass(200);
    assertEquals(0, node.lastPingTo(2).grantNanos());
    node.hears(2, new PrepareOk(0, op));
    node.isFollowedBy(1);
    node.pass(200);
    assertTrue(node.lastPingTo(2).grantNanos() > 0);
  }

  @Test
  void aPrimaryActsWhenItKnowsWhatItsPredecessorsDecided() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.hears(0, new Prepare(0, 1, 0, node.entry(0, 1, "a")));
    node.now += SingleReplica.LEASE;
    node.hears(2, new DoViewChange(1, 0, 0, 0, 0));
    node.hears(2, new Pong(1, 0, node.now, node.now));
    assertTrue(node.replica.isPrimary());
    assertTrue(node.replica.leaseUntil(node.now) < node.now);
    node.hears(2, new Pong(1, 1, node.now, node.now));
    assertTrue(node.replica.leaseUntil(node.now) > node.now);
  }

  @Test
  void theLogOfTheLatestViewWinsOverTheLongestOne() {
    SingleReplica node = new SingleReplica(5, 1).following();
    node.hears(0, new Prepare(0, 1, 0, node.entry(0, 1, "a")));
    node.hears(0, new Prepare(0, 2, 0, node.entry(0, 2, "b")));
    node.now += SingleReplica.LEASE;
    node.hears(2, new DoViewChange(6, 3, 1, 0, 0));
    node.hears(3, new DoViewChange(6, 0, 0, 0, 0));
    assertFalse(node.replica.isPrimary());
    assertEquals(new GetState(6, 0), node.last(GetState.class));
    node.hears(2, new NewState(6, 0, 0, null, List.of(node.entry(2, 1, "c"))));
    node.hears(2, new PrepareOk(6, 1));
    node.hears(3, new PrepareOk(6, 1));
    assertEquals(List.of("c"), node.applied);
  }

  @Test
  void aLeaseIsNotLongerThanWhatAMajorityPromised() {
    SingleReplica node = new SingleReplica(3, 0).leading();
    node.hears(1, new Pong(0, 0, node.now, node.now));
    long sent = node.now;
    node.now += 1_000 * SingleReplica.MILLI;
    node.hears(1, new Pong(0, 0, sent, node.now));
    node.pass(40);
    assertTrue(node.lastPingTo(1).grantNanos() > 0);
    assertTrue(node.lastPingTo(1).grantNanos() <= 500 * SingleReplica.MILLI);
  }

  @Test
  void whatWasSaidInAnotherViewIsNotCounted() {
    SingleReplica node = new SingleReplica(3, 0).leading();
    node.propose("mine");
    node.hears(1, new PrepareOk(3, 1));
    node.hears(1, new Pong(3, 1, node.now, node.now));
    assertEquals(0, node.replica.committed());
    assertTrue(node.replica.leaseUntil(node.now) < node.now);
  }

  @Test
  void aPrimaryThatNobodyFollowsDeclaresNobody() {
    SingleReplica node = new SingleReplica(3, 0).leading();
    node.isFollowedBy(1, 2);
    node.now += 4 * SingleReplica.LEASE;
    assertFalse(node.replica.isOver(1, node.now));
  }

  @Test
  void whatIsWantedWhileSomethingIsAppliedHasItsTurnAfterwards() {
    SingleReplica node = new SingleReplica(3, 0).leading();
    List<String> steps = new ArrayList<>();
    node.whenApplied =
        text -> {
          steps.add("begin " + text);
          node.propose(text + text);
          steps.add("end " + text);
        };
    List.of("a", "b", "c").forEach(node::propose);

    node.hears(1, new PrepareOk(0, 3));

    assertEquals(List.of("begin a", "end a", "begin b", "end b", "begin c", "end c"), steps);
    steps.clear();
    node.hears(1, new PrepareOk(0, 4));
    assertEquals(List.of("begin aa", "end aa"), steps);
  }

  @Test
  void whoAsksForTheStateAgainWhileItIsStillToldGetsNoSecondAnswerBeforeThatIsDone() {
    SingleReplica node = new SingleReplica(3, 0).leading();
    node.hears(1, new GetState(0, 9));
    assertEquals(1, node.sent(NewState.class).size());
    assertEquals(1, node.snapshots);

    node.stillTold.add(1);
    node.hears(1, new GetState(0, 9));
    assertEquals(1, node.sent(NewState.class).size());
    assertEquals(1, node.snapshots);

    node.stillTold.remove(1);
    node.hears(1, new GetState(0, 9));
    assertEquals(2, node.sent(NewState.class).size());
  }

  @Test
  void whileOneIsToldTheStateAnotherOneIsToldAsWell() {
    SingleReplica node = new SingleReplica(3, 0).leading();
    node.stillTold.add(1);

    node.hears(2, new GetState(0, 9));

    assertEquals(1, node.sent(NewState.class).size());
  }
}
