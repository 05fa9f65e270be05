package dev.mcpbridge.cluster;

/** What is known of who runs what. */
public interface Owners {

  /** Whether any node has a server, or is still to stop it. */
  boolean isOwned(String server);

  /** Whether any node can run a server; where nothing is known of nodes, it may be. */
  boolean hasCandidate(String server);

  /** Whether a server is known to any node at all; where nothing is known of nodes, it may be. */
  boolean knows(String server);

  /** Since when, in the count of all nodes, things stand as they do with a server. */
  long epoch(String server);
}
