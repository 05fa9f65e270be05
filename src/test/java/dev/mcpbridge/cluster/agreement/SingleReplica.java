package dev.mcpbridge.cluster.agreement;

import dev.mcpbridge.cluster.agreement.Message.Found;
import dev.mcpbridge.cluster.agreement.Message.Founded;
import dev.mcpbridge.cluster.agreement.Message.Ping;
import dev.mcpbridge.cluster.agreement.Message.Pong;
import dev.mcpbridge.cluster.agreement.Message.Signed;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** One replica; the test says what it hears from the others, and sees what it says to them. */
final class SingleReplica implements Replica.Peers, StateMachine {
  static final long MILLI = 1_000_000;
  static final long LEASE = 1_500 * MILLI;
  static final long GENERATION = 77;

  /** A command that nobody may propose. */
  static final String NOT_ITS_OWN = "not its own";

  final Terms terms;
  final Replica replica;
  final int self;

  /** The lives that the others know of. */
  final long[] lives;

  final List<Sent> sent = new ArrayList<>();
  final List<String> applied = new ArrayList<>();

  /** Slots to which an answer is on its way. */
  final Set<Integer> stillTold = new HashSet<>();

  Consumer<String> whenApplied = text -> {};
  int snapshots;
  long generation = GENERATION;
  long now = 3_600_000 * MILLI;

  record Sent(int to, Message message) {}

  SingleReplica(int size, int self) {
    this.terms = new Terms(size, LEASE);
    this.self = self;
    this.lives = new long[size];
    Arrays.fill(lives, 5);
    this.replica = new Replica(terms, self, 5, this, this, new SplittableRandom(1));
  }

  /** Follows the first one, in a group that has just begun. */
  SingleReplica following() {
    hears(0, new Found(GENERATION));
    hears(0, new Founded(GENERATION, 0));
    return this;
  }

  /** Leads in a group that has just begun. */
  SingleReplica leading() {
    hears(self == 0 ? 1 : 0, new Found(GENERATION));
    hears(self == 0 ? 1 : 0, new Founded(GENERATION, self));
    replica.begin(0, 0, now);
    return this;
  }

  void hears(int from, Message message) {
    replica.receive(new Signed(from, generation, lives.clone(), message), now);
  }

  /** They have heard the last Ping, and promise. */
  void isFollowedBy(int... slots) {
    for (int slot : slots) {
      hears(slot, new Pong(replica.view(), replica.lastOp(), now, now));
    }
  }

  void pass(long millis) {
    for (long end = now + millis * MILLI; now < end; now += 20 * MILLI) {
      replica.tick(now, now / MILLI);
    }
  }

  Ping ping(long view, long grant) {
    return new Ping(view, 0, 0, now, now, grant);
  }

  Entry entry(int proposer, long number, String text) {
    return new Entry(proposer, 5, number, number, 1, text.getBytes(StandardCharsets.UTF_8));
  }

  long propose(String text) {
    return replica.propose(text.getBytes(StandardCharsets.UTF_8), now);
  }

  Ping lastPingTo(int slot) {
    return sent.stream()
        .filter(each -> each.to() == slot && each.message() instanceof Ping)
        .map(each -> (Ping) each.message())
        .reduce((first, second) -> second)
        .orElseThrow();
  }

  <M extends Message> List<M> sent(Class<M> type) {
    return sent.stream().map(Sent::message).filter(type::isInstance).map(type::cast).toList();
  }

  <M extends Message> M last(Class<M> type) {
    List<M> all = sent(type);
    return all.isEmpty() ? null : all.get(all.size() - 1);
  }

  @Override
  public void send(int to, Signed message) {
    sent.add(new Sent(to, message.message()));
  }

  @Override
  public boolean isReachable(int to) {
    return true;
  }

  @Override
  public boolean isStillTelling(int to) {
    return stillTold.contains(to);
  }

  @Override
  public void apply(long op, Entry entry) {
    String text = new String(entry.command(), StandardCharsets.UTF_8);
    applied.add(text);
    whenApplied.accept(text);
  }

  @Override
  public boolean mayBeProposed(Entry entry) {
    return !new String(entry.command(), StandardCharsets.UTF_8).equals(NOT_ITS_OWN);
  }

  @Override
  public byte[] snapshot() {
    snapshots++;
    return new byte[0];
  }

  @Override
  public void restore(byte[] snapshot) {
    applied.clear();
  }
}
