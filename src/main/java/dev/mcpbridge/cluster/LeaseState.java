package dev.mcpbridge.cluster;

/** Tracks this node's lease from one tick to the next. Confined to the event loop. */
final class LeaseState {
  private final LeaseTerms terms;
  private final long createdNanos;
  private volatile long untilNanos;
  private boolean mayAct;
  private boolean isOver = true;

  /** The change since the last tick. */
  enum LeaseChange {
    NONE,
    /** The lease has been acquired. */
    ACQUIRED,
    /** The lease ended longer than the grace period ago: everything must be stopped. */
    LOST
  }

  LeaseState(LeaseTerms terms, long now) {
    this.terms = terms;
    this.createdNanos = now;
  }

  LeaseChange update(long leaseUntil, long now) {
    boolean couldAct = mayAct;
    mayAct = leaseUntil > now;
    if (mayAct) {
      untilNanos = leaseUntil;
      isOver = false;
      return couldAct ? LeaseChange.NONE : LeaseChange.ACQUIRED;
    }
    if (!isOver && now - untilNanos >= terms.patienceNanos()) {
      isOver = true;
      return LeaseChange.LOST;
    }
    return LeaseChange.NONE;
  }

  /** The end of the last known lease. Thread-safe. */
  long until() {
    return untilNanos;
  }

  boolean isOver() {
    return isOver;
  }

  /** The state name of a node without a lease. */
  String stateWithoutLease() {
    return untilNanos != 0 && isOver ? "cut_off" : "joining";
  }

  /** Whether the lease ended so long ago that callers should not wait for a new one. */
  boolean isLongOver(long now) {
    return !mayAct && now - Math.max(untilNanos, createdNanos) > 3 * terms.leaseNanos();
  }
}
