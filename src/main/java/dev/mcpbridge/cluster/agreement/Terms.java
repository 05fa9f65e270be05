package dev.mcpbridge.cluster.agreement;

/**
 * What all replicas of a group have in common.
 *
 * @param size how many there are; more than half of them decide
 * @param leaseNanos how long whoever was heard of may act
 */
public record Terms(int size, long leaseNanos) {

  public Terms {
    if (size < 1 || leaseNanos < 1) {
      throw new IllegalArgumentException("size " + size + ", lease " + leaseNanos);
    }
  }

  int majority() {
    return size / 2 + 1;
  }

  long pingNanos() {
    return leaseNanos / 10;
  }

  /** After the end of a lease, until somebody else may act: to stop what runs. */
  public long takeoverNanos() {
    return leaseNanos * 2 / 3;
  }

  /** After the end of its lease, until a node stops what it runs. */
  public long patienceNanos() {
    return leaseNanos / 3;
  }

  long retryNanos() {
    return leaseNanos / 5;
  }
}
