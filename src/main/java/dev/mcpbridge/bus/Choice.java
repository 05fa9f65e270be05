package dev.mcpbridge.bus;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.model.Part;
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
final class Choice {
  private static final int NOT_TO_BE_HAD = 1 << 30;
  private static final int DOWN = 1 << 28;

  private final Cluster cluster;
  private final Map<Part, Integer> open = new HashMap<>();
  private final Map<Part, ServerState> states = new HashMap<>();

  Choice(Cluster cluster) {
    this.cluster = cluster;
  }

  /**
   * @param tried which come last
   */
  Part of(ServerId server, Set<Part> tried) {
    Collection<Part> parts = cluster.owners().parts(server);
    return parts.size() < 2
        ? Part.first(server)
        : parts.stream().min(Comparator.comparing(part -> cost(part, tried))).orElseThrow();
  }

  private int cost(Part part, Set<Part> tried) {
    int owner = cluster.owner(part);
    if (owner == Cluster.NOWHERE || tried.contains(part)) {
      return NOT_TO_BE_HAD;
    }
    int steps = 4 * open.getOrDefault(part, 0) + (owner == Cluster.HERE ? 0 : 1);
    ServerState state = states.get(part);
    if (state instanceof ServerState.Stopped) {
      return steps + 2;
    }
    return state != null && state.takesCalls() ? steps : steps + DOWN;
  }

  void begun(Part part) {
    open.merge(part, 1, Integer::sum);
  }

  void ended(Part part) {
    open.computeIfPresent(part, (p, count) -> count == 1 ? null : count - 1);
  }

  /** How a part stands now. */
  void heard(ServerView view) {
    view.parts().forEach(part -> states.put(part, view.state()));
  }

  /** A server is wanted no more. */
  void forget(ServerId server) {
    states.keySet().removeIf(part -> part.server().equals(server));
  }
}
