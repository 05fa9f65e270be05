package dev.mcpbridge.cluster.agreement;

import dev.mcpbridge.cluster.agreement.Message.Commit;
import dev.mcpbridge.cluster.agreement.Message.Pong;
import dev.mcpbridge.cluster.agreement.Message.Prepare;
import dev.mcpbridge.cluster.agreement.Message.StartView;
import java.util.Arrays;

/**
 * What a replica does while it is the primary: gives places, counts who has what, grants leases.
 */
final class Leadership {
  private final Replica replica;
  private final History history;
  private final Terms terms;
  private final Leases leases;
  private final long[] acked;
  private long startOp;
  private long pingedNanos;
  private boolean committing;

  Leadership(Replica replica, History history) {
    this.replica = replica;
    this.history = history;
    this.terms = replica.terms;
    this.leases = new Leases(terms, replica.self);
    this.acked = new long[terms.size()];
  }

  /**
   * @param known what others knew to be committed
   * @param promised for how long leases of the last primary may go on
   */
  void begin(long known, long promised, long now) {
    startOp = history.last();
    Arrays.fill(acked, 0);
    acked[replica.self] = history.last();
    leases.begin(now, history.last(), promised);
    commit(known);
    replica.broadcast(new StartView(replica.view(), history.last(), history.commit()));
    pingAll(now);
    commitWhatMostHave();
  }

  /** False where it leads nobody, and somebody else should. */
  boolean lead(long now) {
    if (now - leases.lastPromise(now) > terms.leaseNanos()) {
      return false;
    }
    if (now - pingedNanos >= terms.pingNanos()) {
      pingAll(now);
    }
    return true;
  }

  /** Takes a command of another replica, unless it is not that one's to propose. */
  void appendIfAllowed(Entry wanted) {
    if (history.mayBeProposed(wanted)) {
      append(wanted);
    }
  }

  void append(Entry wanted) {
    Entry entry = wanted.at(history.wallMillis());
    history.add(entry);
    acked[replica.self] = history.last();
    replica.broadcast(new Prepare(replica.view(), history.last(), history.commit(), entry));
    commitWhatMostHave();
  }

  void prepared(int from, long op) {
    acked[from] = Math.max(acked[from], op);
    commitWhatMostHave();
  }

  void pong(int from, Pong pong, long now) {
    boolean wasAlone = !isFollowed(now);
    leases.pong(from, pong, now);
    prepared(from, pong.op());
    if (wasAlone && isFollowed(now)) {
      leases.followedAgain(now);
      pingAll(now);
    }
  }

  /** Whether no other primary can be. */
  boolean isFollowed(long now) {
    return leases.promisedUntil(now) > now;
  }

  long owesUntil(long now) {
    return leases.owesUntil(now);
  }

  /** Until when this node may act itself; it has to know what its predecessors decided. */
  long leaseUntil(long now) {
    return history.commit() >= startOp ? leases.promisedUntil(now) : Long.MIN_VALUE;
  }

  boolean isOver(int slot, long now) {
    return isFollowed(now) && leases.isOver(slot, now);
  }

  /** No lease for a node before it knows what was decided last. */
  void revoke(int slot) {
    leases.revoke(slot, history.last());
  }

  /** A slot begins another life. */
  void forget(int slot, long now) {
    leases.forget(slot, now);
    acked[slot] = 0;
  }

  private void pingAll(long now) {
    pingedNanos = now;
    for (int slot = 0; slot < terms.size(); slot++) {
      if (slot != replica.self) {
        replica.send(
            slot,
            leases.ping(slot, replica.view(), history.last(), history.commit(), acked[slot], now));
      }
    }
  }

  /**
   * What is applied may make somebody want more at once, which is no part of what most have yet, or
   * has its turn when this is applied: nothing is applied within something else.
   */
  private void commitWhatMostHave() {
    if (committing) {
      return;
    }
    for (long most = mostHave(); most > history.commit(); most = mostHave()) {
      commit(most);
      replica.broadcast(new Commit(replica.view(), history.commit()));
    }
  }

  private long mostHave() {
    long[] sorted = acked.clone();
    Arrays.sort(sorted);
    return Math.min(history.last(), sorted[terms.size() - terms.majority()]);
  }

  private void commit(long op) {
    committing = true;
    try {
      history.advance(op);
    } finally {
      committing = false;
    }
  }
}
