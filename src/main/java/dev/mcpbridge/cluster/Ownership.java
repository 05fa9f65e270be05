package dev.mcpbridge.cluster;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Which servers are whose, as one node knows it. Confined to the loop. */
final class Ownership implements Owners {
  private final ClusterState state;
  private final int slot;
  private final long life;
  private final Map<String, Long> released = new HashMap<>();
  private Set<String> offered = Set.of();

  Ownership(ClusterState state, int slot, long life) {
    this.state = state;
    this.slot = slot;
    this.life = life;
  }

  /** What this node can run. */
  void offer(Set<String> servers) {
    offered = new LinkedHashSet<>(servers);
  }

  Set<String> offered() {
    return offered;
  }

  /** The slot of a server's owner; {@link Cluster#HERE} only where this node is to keep it. */
  int owner(String server) {
    Optional<Holding> holding = state.holding(server);
    if (holding.isEmpty()) {
      return Cluster.NOWHERE;
    }
    if (holding.get().slot() != slot) {
      return holding.get().slot();
    }
    return isMine(server, holding.get()) ? Cluster.HERE : Cluster.NOWHERE;
  }

  /** What this node has, and is to keep. */
  Set<String> mine() {
    Set<String> mine = new LinkedHashSet<>();
    for (String server : offered) {
      state.holding(server).filter(h -> isMine(server, h)).ifPresent(h -> mine.add(server));
    }
    return mine;
  }

  /**
   * Gives up what this node has: by this epoch it never runs it again, whenever the others hear of
   * that.
   */
  Optional<Holding> release(String server) {
    Optional<Holding> held = state.holding(server).filter(this::isHeldHere);
    held.ifPresent(holding -> released.put(server, holding.epoch()));
    return held;
  }

  /** Everything that this node has, whether or not it is to keep it. */
  Set<String> held() {
    Set<String> held = new LinkedHashSet<>();
    state
        .holdings()
        .forEach(
            (server, holding) -> {
              if (isHeldHere(holding)) {
                held.add(server);
              }
            });
    return held;
  }

  @Override
  public boolean isOwned(String server) {
    return state.holding(server).isPresent();
  }

  @Override
  public boolean hasCandidate(String server) {
    return state.members().isEmpty() || state.wanted(server).isPresent();
  }

  @Override
  public boolean knows(String server) {
    return state.members().isEmpty()
        || isOwned(server)
        || state.members().stream().anyMatch(member -> member.servers().contains(server));
  }

  @Override
  public long epoch(String server) {
    return state.holding(server).map(Holding::epoch).orElseGet(state::lastEpoch);
  }

  private boolean isMine(String server, Holding holding) {
    return isHeldHere(holding)
        && !Long.valueOf(holding.epoch()).equals(released.get(server))
        && offered.contains(server)
        && state.wanted(server).filter(holding::isOf).isPresent();
  }

  private boolean isHeldHere(Holding holding) {
    return holding.slot() == slot && holding.life() == life;
  }
}
