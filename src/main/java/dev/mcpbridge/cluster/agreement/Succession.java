package dev.mcpbridge.cluster.agreement;

import dev.mcpbridge.cluster.agreement.Message.DoViewChange;
import dev.mcpbridge.cluster.agreement.Message.StartViewChange;
import java.util.Comparator;
import java.util.random.RandomGenerator;

/**
 * How the next primary is found. First everybody is asked whether they would follow; nobody is
 * bound by that, so that a node which was cut off disturbs none. Where a majority would, they leave
 * the old view for good and send what they know to the new primary, which begins when it knows what
 * any of a majority knows.
 */
final class Succession {
  private final Replica replica;
  private final RandomGenerator random;
  private final Votes<Boolean> wouldFollow;
  private final Votes<DoViewChange> farewells;
  private long candidate;
  private long askedNanos;
  private long leftNanos;
  private long promisedUntil;
  private long patienceNanos;
  private boolean isFetching;

  Succession(Replica replica, RandomGenerator random) {
    this.replica = replica;
    this.random = random;
    this.wouldFollow = new Votes<>(replica.incarnations);
    this.farewells = new Votes<>(replica.incarnations);
    drawPatience();
  }

  /** The primary's promise is over, and some time more: asks for another one. */
  void watch(long promisedUntil, long now) {
    boolean isTime = now - promisedUntil >= patienceNanos;
    if (isTime && now - askedNanos >= replica.terms.retryNanos()) {
      seek(Math.max(candidate, next(replica.view())), false, now);
    }
  }

  /** The new view does not begin: says again what was said, then asks for the one after it. */
  void insist(long now) {
    if (now - leftNanos >= replica.terms.leaseNanos()) {
      if (now - askedNanos >= replica.terms.retryNanos()) {
        seek(Math.max(candidate, next(replica.view())), false, now);
      }
    } else if (now - askedNanos >= replica.terms.retryNanos()) {
      askedNanos = now;
      sayFarewell(now);
    }
  }

  void resign(long now) {
    seek(next(replica.view()), true, now);
  }

  /** There is a primary: nothing of what was asked counts any more. */
  void calm() {
    candidate = 0;
    wouldFollow.clear();
    isFetching = false;
    drawPatience();
  }

  /**
   * @param promiseNanos for how much longer this replica follows nobody else
   */
  void asked(int from, StartViewChange change, long promiseNanos, long now) {
    boolean isReleased = change.released() && from == replica.primary();
    if (change.view() <= replica.view() || promiseNanos > 0 && !isReleased) {
      return;
    }
    if (change.view() > candidate) {
      seek(change.view(), change.released(), now);
    }
    if (change.view() == candidate) {
      wouldFollow.add(from, true);
      leaveIfMostWould(promiseNanos, now);
    }
  }

  /** Somebody has left for a view whose primary this is. */
  void left(int from, DoViewChange change, long promiseNanos, long now) {
    boolean isMine = replica.primary(change.view()) == replica.self;
    boolean isOld = change.view() < replica.view() || replica.isPrimary();
    if (!isMine || isOld || promiseNanos > 0 && change.promiseNanos() == 0) {
      return;
    }
    if (change.view() > replica.view()) {
      leave(change.view(), promiseNanos, now);
    }
    farewells.add(from, change);
    beginIfMostLeft(now);
  }

  boolean isFetching() {
    return isFetching;
  }

  /** What the best informed one knew is here now. */
  void fetched(long now) {
    begin(now);
  }

  private void seek(long view, boolean released, long now) {
    if (view > candidate) {
      candidate = view;
      wouldFollow.clear();
    }
    askedNanos = now;
    wouldFollow.add(replica.self, true);
    replica.broadcast(new StartViewChange(candidate, released));
    leaveIfMostWould(0, now);
  }

  private void leaveIfMostWould(long promiseNanos, long now) {
    if (candidate > replica.view() && wouldFollow.size() >= replica.terms.majority()) {
      leave(candidate, promiseNanos, now);
    }
  }

  private void leave(long view, long promiseNanos, long now) {
    replica.leaveFor(view);
    leftNanos = now;
    askedNanos = now;
    isFetching = false;
    promisedUntil = now + promiseNanos;
    farewells.clear();
    sayFarewell(now);
  }

  private void sayFarewell(long now) {
    DoViewChange farewell = replica.farewell(Math.max(0, promisedUntil - now));
    int next = replica.primary(farewell.view());
    if (next == replica.self) {
      farewells.add(next, farewell);
      beginIfMostLeft(now);
    } else {
      replica.send(next, farewell);
    }
  }

  private void beginIfMostLeft(long now) {
    boolean isWaiting = replica.status() == Replica.Status.CHANGING && !isFetching;
    if (!isWaiting || farewells.size() < replica.terms.majority()) {
      return;
    }
    Votes.Vote<DoViewChange> best =
        farewells
            .valid()
            .max(
                Comparator.comparingLong((Votes.Vote<DoViewChange> v) -> v.value().lastNormal())
                    .thenComparingLong(v -> v.value().op()))
            .orElseThrow();
    if (replica.isBefore(best.value()) && best.from() != replica.self) {
      isFetching = true;
      replica.following.ask(best.from(), now);
      return;
    }
    begin(now);
  }

  private void begin(long now) {
    long known = farewells.valid().mapToLong(v -> v.value().commit()).max().orElse(0);
    long promised = farewells.valid().mapToLong(v -> v.value().promiseNanos()).max().orElse(0);
    calm();
    replica.begin(known, promised, now);
  }

  /** The next view whose primary can be reached. */
  private long next(long view) {
    for (long next = view + 1; next < view + replica.terms.size(); next++) {
      int slot = replica.primary(next);
      if (slot == replica.self || replica.peers.isReachable(slot)) {
        return next;
      }
    }
    return view + 1;
  }

  /** Not all at the same time. */
  private void drawPatience() {
    patienceNanos = random.nextLong(replica.terms.retryNanos() + 1);
  }
}
