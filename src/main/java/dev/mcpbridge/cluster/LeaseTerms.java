package dev.mcpbridge.cluster;

/**
 * The times of a lease. From its end on, a node begins nothing; after its patience it stops what it
 * runs; after the takeover time other nodes may start it. Each node measures with its own monotonic
 * clock, and others measure from a later moment than the owner.
 *
 * @param leaseNanos how long a node may act after it has sent a renewal that was stored
 */
record LeaseTerms(long leaseNanos) {

  LeaseTerms {
    if (leaseNanos < 1) {
      throw new IllegalArgumentException("lease " + leaseNanos);
    }
  }

  /** From one renewal to the next. The shorter, the longer an election may last. */
  long renewalNanos() {
    return leaseNanos / 8;
  }

  /** From the end of its lease until a node stops what it runs. */
  long patienceNanos() {
    return leaseNanos / 3;
  }

  /** From a renewal that other nodes have seen until they may take over. */
  long silenceNanos() {
    return leaseNanos + leaseNanos * 2 / 3;
  }
}
