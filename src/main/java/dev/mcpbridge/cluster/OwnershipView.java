package dev.mcpbridge.cluster;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import java.util.Collection;

/** Read access to the owners of instances. */
public interface OwnershipView {

  /** The instances of a server that a node can run or still owns; empty for an unknown server. */
  Collection<InstanceId> instances(ServerId server);

  /** Whether any node owns an instance of a server, even if it must stop it. */
  boolean isOwned(ServerId server);

  /** Whether any node owns an instance of a server, or this node has offered to run it. */
  boolean isExpected(ServerId server);

  /** Whether any node can run a server; true while no member is known. */
  boolean hasCandidate(ServerId server);

  /** Whether any node has this server configured; true while no member is known. */
  boolean knows(ServerId server);

  /** The epoch of the current owner; without an owner, the latest epoch of the cluster. */
  long epoch(InstanceId instanceId);
}
