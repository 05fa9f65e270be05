package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.agreement.Terms;

/** How it stands with this node's right to act, from one look to the next. */
final class LeaseState {
  private final Terms terms;
  private final long bornNanos;
  private volatile long untilNanos;
  private boolean mayAct;
  private boolean isOver = true;

  /** What has become of it. */
  enum LeaseChange {
    AS_BEFORE,
    /** It may act, and might not before. */
    BEGUN,
    /** It might not act for some time: what runs has to stop. */
    OVER
  }

  LeaseState(Terms terms, long now) {
    this.terms = terms;
    this.bornNanos = now;
  }

  LeaseChange look(long leaseUntil, long now) {
    boolean might = mayAct;
    mayAct = leaseUntil > now;
    if (mayAct) {
      untilNanos = leaseUntil;
      isOver = false;
      return might ? LeaseChange.AS_BEFORE : LeaseChange.BEGUN;
    }
    if (!isOver && now - untilNanos >= terms.patienceNanos()) {
      isOver = true;
      return LeaseChange.OVER;
    }
    return LeaseChange.AS_BEFORE;
  }

  /** Until when it surely may act; for any thread. */
  long until() {
    return untilNanos;
  }

  boolean isOver() {
    return isOver;
  }

  /** What a node that may not act is. */
  String wordWithout() {
    return untilNanos != 0 && isOver ? "cut_off" : "joining";
  }

  /** Whether it is not worth waiting for. */
  boolean isLongOver(long now) {
    return !mayAct && now - Math.max(untilNanos, bornNanos) > 3 * terms.leaseNanos();
  }
}
