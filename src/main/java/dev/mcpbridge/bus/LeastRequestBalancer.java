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
 * Which part of a server is asked where any will do: one that serves before one that does not, then
 * the one of which this node has asked least that is still open, then one that is here. One that is
 * lazy, and starts when it is asked, comes when those that run have something to do. Confined to
 * the event loop.
 */
final class LeastRequestBalancer {
  private static final int NOT_TO_BE_HAD = 1 << 30;
  private static final int DOWN = 1 << 28;

  private final Cluster cluster;
  private final Map<InstanceId, Integer> open = new HashMap<>();
  private final Map<InstanceId, ServerState> states = new HashMap<>();

  LeastRequestBalancer(Cluster cluster) {
    this.cluster = cluster;
  }

  /**
   * @param tried which come last
   */
  InstanceId of(ServerId server, Set<InstanceId> tried) {
    Collection<InstanceId> parts = cluster.owners().parts(server);
    return parts.size() < 2
        ? InstanceId.first(server)
        : parts.stream()
            .min(Comparator.comparing(instanceId -> cost(instanceId, tried)))
            .orElseThrow();
  }

  private int cost(InstanceId instanceId, Set<InstanceId> tried) {
    int owner = cluster.owner(instanceId);
    if (owner == Cluster.NOWHERE || tried.contains(instanceId)) {
      return NOT_TO_BE_HAD;
    }
    int steps = 4 * open.getOrDefault(instanceId, 0) + (owner == Cluster.HERE ? 0 : 1);
    ServerState state = states.get(instanceId);
    if (state instanceof ServerState.Stopped) {
      return steps + 2;
    }
    return state != null && state.takesCalls() ? steps : steps + DOWN;
  }

  void begun(InstanceId instanceId) {
    open.merge(instanceId, 1, Integer::sum);
  }

  void ended(InstanceId instanceId) {
    open.computeIfPresent(instanceId, (p, count) -> count == 1 ? null : count - 1);
  }

  /** How a part stands now. */
  void heard(ServerView view) {
    view.parts().forEach(instanceId -> states.put(instanceId, view.state()));
  }

  /** A server is wanted no more. */
  void forget(ServerId server) {
    states.keySet().removeIf(instanceId -> instanceId.server().equals(server));
  }
}
