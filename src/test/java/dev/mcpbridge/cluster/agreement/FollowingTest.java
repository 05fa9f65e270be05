package dev.mcpbridge.cluster.agreement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.agreement.Message.DoViewChange;
import dev.mcpbridge.cluster.agreement.Message.GetState;
import dev.mcpbridge.cluster.agreement.Message.NewState;
import dev.mcpbridge.cluster.agreement.Message.Ping;
import dev.mcpbridge.cluster.agreement.Message.Pong;
import dev.mcpbridge.cluster.agreement.Message.Prepare;
import dev.mcpbridge.cluster.agreement.Message.PrepareOk;
import dev.mcpbridge.cluster.agreement.Message.Propose;
import dev.mcpbridge.cluster.agreement.Message.StartView;
import dev.mcpbridge.cluster.agreement.Message.StartViewChange;
import dev.mcpbridge.cluster.agreement.Replica.Status;
import dev.mcpbridge.wire.WireWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a backup must do where a random schedule seldom leads. */
class FollowingTest {

  @Test
  void aLeaseThatWasGrantedToTheLifeBeforeIsNone() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.lives[1] = 4;
    node.hears(0, node.ping(0, SingleReplica.LEASE));
    assertTrue(node.replica.leaseUntil(node.now) < node.now);
    node.lives[1] = 5;
    node.hears(0, node.ping(0, SingleReplica.LEASE));
    assertTrue(node.replica.leaseUntil(node.now) > node.now);
  }

  @Test
  void whatASnapshotContainsIsNotSentForEver() {
    SingleReplica node = new SingleReplica(3, 1).following();
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
  void whoMissesWhatIsCommittedTakesNoLease() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.hears(0, new Ping(0, 2, 2, node.now, node.now, SingleReplica.LEASE));
    node.hears(0, new Prepare(0, 1, 2, node.entry(0, 1, "a")));
    node.hears(0, new Ping(0, 2, 2, node.now, node.now, SingleReplica.LEASE));
    assertTrue(node.replica.leaseUntil(node.now) < node.now);
    node.hears(0, new Prepare(0, 2, 2, node.entry(0, 2, "b")));
    node.hears(0, new Ping(0, 2, 2, node.now, node.now, SingleReplica.LEASE));
    assertTrue(node.replica.leaseUntil(node.now) > node.now);
  }

  @Test
  void whoDoesNotKnowYetWhatWasDecidedKeepsOnlyWhatIsCommitted() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.hears(0, new Prepare(0, 1, 0, node.entry(0, 1, "a")));
    node.hears(0, new Prepare(0, 2, 1, node.entry(0, 2, "b")));
    node.hears(2, new StartView(2, 2, 1));
    node.hears(2, new Ping(2, 2, 2, node.now, 0, 0));
    assertEquals(1, node.last(Pong.class).op());
    assertEquals(List.of("a"), node.applied);
  }

  @Test
  void whoDoesNotKnowYetWhatWasDecidedLeavesWithTheLogOfItsOldView() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.hears(2, new StartView(2, 2, 1));
    node.now += 2 * SingleReplica.LEASE;
    node.hears(0, new StartViewChange(3, false));
    assertEquals(0, node.last(DoViewChange.class).lastNormal());
  }

  @Test
  void aLeaseEndsWithItsView() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.hears(0, node.ping(0, SingleReplica.LEASE));
    assertTrue(node.replica.leaseUntil(node.now) > node.now);
    node.hears(2, new StartView(2, 0, 0));
    node.hears(2, new NewState(2, 0, 0, null, List.of()));
    assertEquals(Status.NORMAL, node.replica.status());
    assertTrue(node.replica.leaseUntil(node.now) < node.now);
  }

  @Test
  void aPrimaryOfAnOldViewIsNotFollowed() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.hears(2, new StartView(2, 0, 0));
    node.hears(2, new NewState(2, 0, 0, null, List.of()));
    node.sent.clear();
    node.hears(0, node.ping(0, SingleReplica.LEASE));
    node.hears(0, new Prepare(0, 1, 1, node.entry(0, 1, "a")));
    assertTrue(node.sent.isEmpty());
    assertEquals(0, node.replica.lastOp());
  }

  @Test
  void onlyThePrimaryThatWasAskedIsBelieved() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.hears(2, new StartView(2, 0, 0));
    node.hears(0, new NewState(2, 0, 0, null, List.of()));
    assertEquals(Status.FETCHING, node.replica.status());
  }

  @Test
  void whoFollowsTellsNobodyWhatWasDecided() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.hears(2, new GetState(0, 0));
    assertTrue(node.sent(NewState.class).isEmpty());
  }

  @Test
  void anotherGroupIsNotHeard() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.generation++;
    node.hears(0, node.ping(0, SingleReplica.LEASE));
    assertTrue(node.sent(Pong.class).isEmpty());
  }

  @Test
  void whatComesBeforeWhatItFollowsOnIsFetched() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.hears(0, new Prepare(0, 2, 0, node.entry(0, 2, "b")));
    assertEquals(0, node.last(PrepareOk.class).op());
    assertEquals(new GetState(0, 0), node.last(GetState.class));
  }

  @Test
  void anOldAnswerTakesNothingBackThatWasKeptMeanwhile() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.hears(0, new Prepare(0, 2, 0, node.entry(0, 2, "b")));
    node.hears(0, new Prepare(0, 1, 0, node.entry(0, 1, "a")));
    node.hears(0, new Prepare(0, 2, 0, node.entry(0, 2, "b")));
    node.hears(0, new NewState(0, 0, 0, null, List.of(node.entry(0, 1, "a"))));
    assertEquals(2, node.replica.lastOp());
  }

  @Test
  void whatIsCommittedIsNotTakenBack() {
    SingleReplica node = new SingleReplica(3, 1).following();
    node.hears(0, new Prepare(0, 1, 1, node.entry(0, 1, "a")));
    node.hears(2, new StartView(2, 0, 0));
    node.hears(2, new NewState(2, 0, 0, null, List.of()));
    assertEquals(Status.FETCHING, node.replica.status());
    assertEquals(1, node.replica.lastOp());
  }
}
