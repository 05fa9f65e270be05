package dev.mcpbridge.cluster.agreement;

import java.util.Arrays;

/**
 * What a primary knows of the clocks: until when a majority has promised to follow nobody else, and
 * until when it let each node act (Gray and Cheriton 1989). A grant never outlasts the promises, so
 * that the next primary begins when nobody acts by the word of the last one.
 */
final class Leases {
  private final Terms terms;
  private final int self;
  private final long[] pinged;
  private final long[] heard;
  private final long[] pongSent;
  private final long[] granted;
  private final long[] revokedAt;
  private long beganNanos;
  private long waitNanos;
  private long followedSince;
  private long owedUntil;

  Leases(Terms terms, int self) {
    this.terms = terms;
    this.self = self;
    this.pinged = new long[terms.size()];
    this.heard = new long[terms.size()];
    this.pongSent = new long[terms.size()];
    this.granted = new long[terms.size()];
    this.revokedAt = new long[terms.size()];
  }

  /**
   * A view begins.
   *
   * @param op nobody acts before it knows everything up to here
   * @param promised how long leases of the last view may go on
   */
  void begin(long now, long op, long promised) {
    Arrays.fill(pinged, now - 2 * terms.leaseNanos());
    Arrays.fill(heard, now);
    Arrays.fill(pongSent, 0);
    Arrays.fill(granted, now);
    Arrays.fill(revokedAt, op);
    beganNanos = now;
    waitNanos = promised;
    followedSince = now;
    owedUntil = now;
  }

  void pong(int from, Message.Pong pong, long now) {
    heard[from] = now;
    pinged[from] = Math.max(pinged[from], pong.echoNanos());
    pongSent[from] = pong.sentNanos();
  }

  /** Until when no other primary can be. */
  long promisedUntil(long now) {
    long[] times = pinged.clone();
    times[self] = now;
    Arrays.sort(times);
    return times[terms.size() - terms.majority()] + terms.leaseNanos();
  }

  /** Until when somebody may act by what was promised, though whoever did may have forgotten. */
  long owesUntil(long now) {
    return Math.max(owedUntil, promisedUntil(now));
  }

  /** After a time in which nobody could be heard, everybody has the time to answer. */
  void followedAgain(long now) {
    followedSince = now;
  }

  /**
   * As {@link #promisedUntil}, but for a primary which has just begun, and has the time to gather
   * promises.
   */
  long lastPromise(long now) {
    return Math.max(promisedUntil(now), beganNanos + terms.leaseNanos());
  }

  /** The Ping for a node, with a lease where it may have one. */
  Message.Ping ping(int to, long view, long op, long commit, long acked, long now) {
    boolean knowsEnough = acked >= revokedAt[to] && commit >= revokedAt[to];
    long grant = Math.min(terms.leaseNanos(), promisedUntil(now) - now);
    if (pongSent[to] == 0 || !knowsEnough || grant <= 0) {
      return new Message.Ping(view, op, commit, now, 0, 0);
    }
    granted[to] = Math.max(granted[to], heard[to] + grant);
    return new Message.Ping(view, op, commit, now, pongSent[to], grant);
  }

  /** Whether a node can surely not act any more, and has had the time to stop what it ran. */
  boolean isOver(int slot, long now) {
    long takeover = terms.takeoverNanos();
    return slot != self
        && now - Math.max(heard[slot], followedSince) >= terms.leaseNanos()
        && now - granted[slot] >= takeover
        && now - beganNanos >= waitNanos + takeover;
  }

  /** No lease for a node until it knows of what was decided about it. */
  void revoke(int slot, long op) {
    revokedAt[slot] = op;
  }

  /** A life that begins knows nothing of the promises of the one before. */
  void forget(int slot, long now) {
    owedUntil = owesUntil(now);
    pinged[slot] = now - 2 * terms.leaseNanos();
    pongSent[slot] = 0;
  }
}
