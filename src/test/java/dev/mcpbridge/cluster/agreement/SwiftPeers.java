package dev.mcpbridge.cluster.agreement;

/** Peers to whom a message of any size is sent at once. */
interface SwiftPeers extends Replica.Peers {
  @Override
  default boolean isStillTelling(int slot) {
    return false;
  }
}
