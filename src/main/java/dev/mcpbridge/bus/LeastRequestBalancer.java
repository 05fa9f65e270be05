package dev.mcpbridge.bus;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Selects an instance of a server for a request that any instance can serve: one that takes calls
 * before one that does not, then the one with the fewest open requests of this node, then a local
 * one. A lazy instance, which starts on demand, is selected once the running ones are busy.
 * Confined to the event loop.
 */
final class LeastRequestBalancer {
  private static final int UNAVAILABLE = 1 << 30;
  private static final int DOWN = 1 << 28;

  private final Cluster cluster;
  private final Map<InstanceId, Integer> open = new HashMap<>();
  private final Map<InstanceId, ServerState> states = new HashMap<>();

  LeastRequestBalancer(Cluster cluster) {
    this.cluster = cluster;
  }

  /**
   * @param tried instances that have failed; they are selected last
   */
  InstanceId select(ServerId server, Set<InstanceId> tried) {
    Collection<InstanceId> instances = cluster.owners().instances(server);
    return instances.size() < 2
        ? InstanceId.first(server)
        : instances.stream()
            .min(Comparator.comparing(instanceId -> cost(instanceId, tried)))
            .orElseThrow();
  }

  private int cost(InstanceId instanceId, Set<InstanceId> tried) {
    int owner = cluster.owner(instanceId);
    if (owner == Cluster.NO_OWNER || tried.contains(instanceId)) {
      return UNAVAILABLE;
    }
    int cost = 4 * open.getOrDefault(instanceId, 0) + (owner == Cluster.THIS_NODE ? 0 : 1);
    ServerState state = states.get(instanceId);
    if (state instanceof ServerState.Stopped) {
      return cost + 2;
    }
    return state != null && state.takesCalls() ? cost : cost + DOWN;
  }

  void begun(InstanceId instanceId) {
    open.merge(instanceId, 1, Integer::sum);
  }

  void ended(InstanceId instanceId) {
    open.computeIfPresent(instanceId, (id, count) -> count == 1 ? null : count - 1);
  }

  /** Stores the state of an instance. */
  void update(ServerView view) {
    view.instances().forEach(instanceId -> states.put(instanceId, view.state()));
  }

  /** A server was removed. */
  void forget(ServerId server) {
    states.keySet().removeIf(instanceId -> instanceId.server().equals(server));
  }
}
