package dev.mcpbridge.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.Command.Release;
import dev.mcpbridge.cluster.engine.Engine;
import dev.mcpbridge.cluster.engine.MemoryEngine;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases and the state of the cluster, on a store in memory and a clock of the test. */
class MembershipTest {
  private static final LeaseTerms TERMS = new LeaseTerms(1_500);
  private static final InstanceId INSTANCE = InstanceId.first(new ServerId("s"));

  private final MemoryEngine.Store store = new MemoryEngine.Store();
  private long now = 10_000;

  /** One node; {@code offset} is how far its clock differs. */
  private final class Node implements Engine.Listener {
    final int number;
    final long offset;
    final MemoryEngine engine = new MemoryEngine(store);
    final ClusterState state = new ClusterState();
    final Membership membership;

    Node(int number, long offset) {
      this.number = number;
      this.offset = offset;
      this.membership = new Membership(engine, state, TERMS, this::clock);
      membership.identify(number, 100 + number);
      engine.open(this);
    }

    long clock() {
      return now + offset;
    }

    void join() {
      membership.join(
          new Member(
              number, 100 + number, "n" + number, "", "", "", List.of(), List.of(INSTANCE), false),
          "bridge");
    }

    void tick() {
      membership.renew();
      membership.declareLost();
    }

    boolean mayAct() {
      return membership.leaseUntil() > clock();
    }

    boolean acts() {
      return mayAct()
          && state.holding(INSTANCE).filter(owner -> owner.slot() == number).isPresent();
    }

    @Override
    public void loaded() {
      // the state is restored when it changes
    }

    @Override
    public void changed(String key, Engine.Entry entry) {
      if (key.equals(Membership.STATE)) {
        state.restore(entry.value());
      }
    }
  }

  private void pass(long millis, Node... nodes) {
    for (long end = now + millis; now < end; now += 10) {
      for (Node node : nodes) {
        node.engine.follow();
        node.tick();
      }
    }
  }

  private Node joined(int number) {
    Node node = new Node(number, 1_000_000L * number);
    node.join();
    return node;
  }

  @Test
  void leaseIsRenewedAndEndsWithoutTheStore() {
    Node node = joined(1);
    pass(5_000, node);
    assertTrue(node.mayAct());

    node.engine.cut();
    pass(TERMS.leaseNanos() + 10, node);

    assertFalse(node.mayAct());
  }

  @Test
  void silentNodeIsDeclaredLostAfterItStoppedToAct() {
    Node silent = joined(1);
    Node other = joined(2);
    pass(1_000, silent, other);
    assertTrue(silent.acts());

    silent.engine.cut();
    long cut = now;
    while (!other.acts()) {
      pass(10, silent, other);
      assertTrue(now - cut < 5_000, "it is not declared lost");
    }

    assertFalse(silent.acts());
    assertTrue(now - cut >= TERMS.leaseNanos() + TERMS.patienceNanos());
  }

  @Test
  void nodeThatWasDeclaredLostJoinsAgain() {
    Node silent = joined(1);
    Node other = joined(2);
    pass(1_000, silent, other);
    silent.engine.cut();
    pass(5_000, silent, other);

    silent.engine.reconnect();
    pass(100, silent, other);
    assertFalse(silent.membership.isHeld());
    assertFalse(silent.mayAct());
    silent.join();
    pass(100, silent, other);

    assertTrue(silent.mayAct());
    assertEquals(2, other.state.members().size());
    assertTrue(other.acts(), "the new owner keeps what it has");
  }

  /** Such a member would be given servers that it may not run, again and again. */
  @Test
  void nodeThatWasDeclaredLostIsNoMemberWithoutALease() {
    Node silent = joined(1);
    Node other = joined(2);
    pass(1_000, silent, other);
    silent.engine.cut();
    pass(5_000, silent, other);
    assertTrue(silent.membership.isHeld(), "it does not know yet");

    silent.engine.reconnect();
    silent.engine.follow();
    silent.join();

    pass(10, other);
    assertEquals(1, other.state.members().size());
  }

  /** A renewal that was under way is stored before or instead of the declaration. */
  @Test
  void lateRenewalOfANodeThatWasDeclaredLostHasNoEffect() {
    Node silent = joined(1);
    Node other = joined(2);
    pass(1_000, silent, other);
    silent.engine.cut();
    pass(400, silent, other);
    pass(5_000, other);

    silent.engine.reconnect();

    assertFalse(silent.mayAct());
    assertTrue(other.acts());
  }

  @Test
  void nobodyIsDeclaredLostByANodeThatWasAwayItself() {
    Node first = joined(1);
    Node second = joined(2);
    Node away = joined(3);
    pass(1_000, first, second, away);

    pass(10_000, first, second);
    first.engine.cut();
    pass(500, second, away);

    assertEquals(2, away.state.members().size(), "the node that was away has been declared lost");
    away.join();
    pass(100, second, away);
    first.engine.reconnect();
    pass(200, first, second, away);
    assertEquals(3, away.state.members().size());
  }

  @Test
  void leavingNodeIsGoneAtOnce() {
    Node leaving = joined(1);
    Node other = joined(2);
    pass(500, leaving, other);

    leaving.membership.leave();
    pass(10, other);

    assertTrue(other.acts());
    assertFalse(leaving.mayAct());
    assertFalse(store.entries().containsKey("leases/1"));
  }

  @Test
  void restartedProcessTakesOverItsOwnLease() {
    Node before = joined(1);
    Node other = joined(2);
    pass(500, before, other);

    Node after = new Node(1, 0);
    after.membership.identify(1, 999);
    after.membership.join(
        new Member(1, 999, "n1", "", "", "", List.of(), List.of(INSTANCE), false), "bridge");
    pass(500, after, before, other);

    assertTrue(after.mayAct());
    assertFalse(before.membership.isHeld());
    assertEquals(999, other.state.member(1).orElseThrow().incarnation());
  }

  /** On another machine, behind the same DNS name, the earlier process may still act. */
  @Test
  void leaseOfAnEarlierProcessIsFreeWhenItIsNotRenewed() {
    Node before = joined(1);
    pass(500, before);
    Node after = new Node(1, 0);
    after.membership.identify(1, 999);

    pass(5_000, before, after);
    assertFalse(after.membership.isFree());
    before.engine.cut();
    while (!after.membership.isFree()) {
      pass(10, before, after);
    }

    assertFalse(before.mayAct());
    assertTrue(joined(2).membership.isFree());
  }

  /** Every change of the state wakes all nodes, which may propose the same again. */
  @Test
  void commandWithoutEffectIsNotStored() {
    Node node = joined(1);
    pass(100, node);
    long before = node.engine.get(Membership.STATE).version();

    node.membership.propose(new Release(INSTANCE, 9, 9, 9));
    pass(100, node);

    assertEquals(before, node.engine.get(Membership.STATE).version());
  }

  @Test
  void commandThatWaitsIsNotProposedAgain() {
    Node node = joined(1);
    pass(100, node);
    node.engine.cut();
    long epoch = node.state.holding(INSTANCE).orElseThrow().epoch();
    Release release = new Release(INSTANCE, 1, 101, epoch);

    assertSame(node.membership.propose(release), node.membership.propose(release));
  }

  @Test
  void commandsOfTwoNodesAreBothApplied() {
    Node first = joined(1);
    Node second = joined(2);
    OwnerEpoch owner = first.state.holding(INSTANCE).orElseThrow();

    second.membership.propose(new Release(INSTANCE, 9, 9, 9));
    first.membership.propose(
        new Release(INSTANCE, owner.slot(), owner.incarnation(), owner.epoch()));
    second.engine.follow();

    assertTrue(second.state.holding(INSTANCE).orElseThrow().epoch() > owner.epoch());
  }

  /** Whatever is cut and frozen, never do two nodes act for an instance. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void neverDoTwoNodesActAtOnce(long seed) {
    Random random = new Random(seed);
    List<Node> nodes = new ArrayList<>();
    for (int number = 1; number <= 3; number++) {
      nodes.add(joined(number));
    }
    boolean[] isFrozen = new boolean[3];
    boolean[] isCut = new boolean[3];
    int moves = 0;
    int last = 0;
    for (int step = 0; step < 20_000; step++, now += 10) {
      for (int i = 0; i < 3; i++) {
        Node node = nodes.get(i);
        if (random.nextInt(400) == 0) {
          isFrozen[i] ^= true;
        }
        if (random.nextInt(400) == 0) {
          isCut[i] ^= true;
          if (isCut[i]) {
            node.engine.cut();
          } else {
            node.engine.reconnect();
          }
        }
        if (!isFrozen[i]) {
          if (!isCut[i] && random.nextInt(3) > 0) {
            node.engine.follow();
          }
          node.tick();
          if (!node.membership.isHeld() && !isCut[i] && random.nextInt(20) == 0) {
            node.join();
          }
        }
      }
      List<Integer> acting = nodes.stream().filter(Node::acts).map(n -> n.number).toList();
      assertTrue(acting.size() <= 1, "seed " + seed + " step " + step + ": " + acting);
      if (!acting.isEmpty() && acting.get(0) != last) {
        last = acting.get(0);
        moves++;
      }
    }
    assertTrue(moves > 3, "only " + moves + " moves");
  }
}
