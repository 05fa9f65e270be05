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
  private long released;
  private long askedNanos;
  private long leftNanos;
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

  /** The primary itself wants another one, and so binds nobody to follow it. */
  void resign(long now) {
    released = next(replica.view());
    seek(released, true, now);
  }

  /** There is a primary: nothing of what was asked counts any more. */
  void calm() {
    candidate = 0;
    released = 0;
    wouldFollow.clear();
    isFetching = false;
    drawPatience();
  }

  void asked(int from, StartViewChange change, long now) {
    if (change.released() && from == replica.primary()) {
      released = change.view();
    }
    boolean isBound = replica.promise(now) > 0 && change.view() != released;
    if (change.view() <= replica.view() || isBound || replica.isRecovering()) {
      return;
    }
    if (change.view() > candidate) {
      seek(change.view(), change.released(), now);
    }
    if (change.view() == candidate) {
      wouldFollow.add(from, true);
      leaveIfMostWould(now);
    }
  }

  /** Somebody has left for a view whose primary this is. */
  void left(int from, DoViewChange change, long now) {
    boolean isMine = replica.primary(change.view()) == replica.self;
    boolean isOld = change.view() < replica.view() || replica.isPrimary();
    boolean isReleased = change.promiseNanos() > 0;
    boolean isBound = replica.isRecovering() || replica.promise(now) > 0 && !isReleased;
    if (!isMine || isOld || isBound) {
      return;
    }
    if (change.view() > replica.view()) {
      leave(change.view(), now);
    }
    farewells.add(from, change);
    beginIfMostLeft(now);
  }

  boolean isFetching() {
    return isFetching;
  }

  /** What the best informed one knew is here now. */
  void fetched(long now) {
    isFetching = false;
    if (farewells.size() >= replica.terms.majority()) {
      begin(now);
    }
  }

  private void seek(long view, boolean released, long now) {
    if (view > candidate) {
      candidate = view;
      wouldFollow.clear();
    }
    askedNanos = now;
    wouldFollow.add(replica.self, true);
    replica.broadcast(new StartViewChange(candidate, released));
    leaveIfMostWould(now);
  }

  private void leaveIfMostWould(long now) {
    if (candidate > replica.view() && wouldFollow.size() >= replica.terms.majority()) {
      leave(candidate, now);
    }
  }

  private void leave(long view, long now) {
    replica.leaveFor(view, now);
    leftNanos = now;
    askedNanos = now;
    isFetching = false;
    farewells.clear();
    sayFarewell(now);
  }

  private void sayFarewell(long now) {
    DoViewChange farewell = replica.farewell(replica.promise(now));
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
