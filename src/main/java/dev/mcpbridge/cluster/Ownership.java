package dev.mcpbridge.cluster;

import dev.mcpbridge.model.Part;
import dev.mcpbridge.model.ServerId;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Which parts of servers are whose, as one node knows it. Confined to the loop. */
final class Ownership implements Owners {
  private final ClusterState state;
  private final int slot;
  private final long life;
  private final Map<Part, Long> released = new HashMap<>();
  private Set<Part> offered = Set.of();

  Ownership(ClusterState state, int slot, long life) {
    this.state = state;
    this.slot = slot;
    this.life = life;
  }

  /** What this node can run. */
  void offer(Set<Part> parts) {
    offered = new LinkedHashSet<>(parts);
  }

  Set<Part> offered() {
    return offered;
  }

  /** The slot of a part's owner; {@link Cluster#HERE} only where this node is to keep it. */
  int owner(Part part) {
    Optional<Holding> holding = state.holding(part);
    if (holding.isEmpty()) {
      return Cluster.NOWHERE;
    }
    if (holding.get().slot() != slot) {
      return holding.get().slot();
    }
    return isMine(part, holding.get()) ? Cluster.HERE : Cluster.NOWHERE;
  }

  /** What this node has, and is to keep. */
  Set<Part> mine() {
    Set<Part> mine = new LinkedHashSet<>();
    for (Part part : offered) {
      state.holding(part).filter(h -> isMine(part, h)).ifPresent(h -> mine.add(part));
    }
    return mine;
  }

  /**
   * Gives up what this node has: by this epoch it never runs it again, whenever the others hear of
   * that.
   */
  Optional<Holding> release(Part part) {
    released.keySet().retainAll(state.holdings().keySet());
    Optional<Holding> held = state.holding(part).filter(this::isHeldHere);
    held.ifPresent(holding -> released.put(part, holding.epoch()));
    return held;
  }

  /** Everything that this node has, whether or not it is to keep it. */
  Set<Part> held() {
    Set<Part> held = new LinkedHashSet<>();
    state
        .holdings()
        .forEach(
            (part, holding) -> {
              if (isHeldHere(holding)) {
                held.add(part);
              }
            });
    return held;
  }

  @Override
  public Collection<Part> parts(ServerId server) {
    return state.placement().parts(server);
  }

  @Override
  public boolean isOwned(ServerId server) {
    return parts(server).stream().anyMatch(part -> state.holding(part).isPresent());
  }

  @Override
  public boolean isExpected(ServerId server) {
    return isOwned(server) || offered.contains(Part.first(server));
  }

  @Override
  public boolean hasCandidate(ServerId server) {
    return state.members().isEmpty()
        || parts(server).stream().anyMatch(part -> state.placement().wanted(part).isPresent());
  }

  @Override
  public boolean knows(ServerId server) {
    return state.members().isEmpty() || !parts(server).isEmpty();
  }

  @Override
  public long epoch(Part part) {
    return state.holding(part).map(Holding::epoch).orElseGet(state::lastEpoch);
  }

  private boolean isMine(Part part, Holding holding) {
    return isHeldHere(holding)
        && !Long.valueOf(holding.epoch()).equals(released.get(part))
        && offered.contains(part)
        && state.placement().wanted(part).filter(holding::isOf).isPresent();
  }

  private boolean isHeldHere(Holding holding) {
    return holding.slot() == slot && holding.life() == life;
  }
}
