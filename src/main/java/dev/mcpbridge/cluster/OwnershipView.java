package dev.mcpbridge.cluster;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import java.util.Collection;

/** What is known of who runs what. */
public interface OwnershipView {

  /** The parts of a server that any node can run, or still has; none where it is not known. */
  Collection<InstanceId> parts(ServerId server);

  /** Whether any node has a part of a server, or is still to stop it. */
  boolean isOwned(ServerId server);

  /** Whether any node has a server, or this one has just said that it can run it. */
  boolean isExpected(ServerId server);

  /** Whether any node can run a server; where nothing is known of nodes, it may be. */
  boolean hasCandidate(ServerId server);

  /** Whether a server is known to any node at all; where nothing is known of nodes, it may be. */
  boolean knows(ServerId server);

  /** Since when, in the count of all nodes, things stand as they do with a part. */
  long epoch(InstanceId instanceId);
}
