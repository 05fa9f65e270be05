package dev.mcpbridge.cluster;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Which parts of servers are whose, as one node knows it. Confined to the loop. */
final class Ownership implements OwnershipView {
  private final ClusterState state;
  private final int slot;
  private final long life;
  private final Map<InstanceId, Long> released = new HashMap<>();
  private Set<InstanceId> offered = Set.of();

  Ownership(ClusterState state, int slot, long life) {
    this.state = state;
    this.slot = slot;
    this.life = life;
  }

  /** What this node can run. */
  void offer(Set<InstanceId> parts) {
    offered = new LinkedHashSet<>(parts);
  }

  Set<InstanceId> offered() {
    return offered;
  }

  /** The slot of a part's owner; {@link Cluster#HERE} only where this node is to keep it. */
  int owner(InstanceId instanceId) {
    Optional<OwnerEpoch> holding = state.holding(instanceId);
    if (holding.isEmpty()) {
      return Cluster.NOWHERE;
    }
    if (holding.get().slot() != slot) {
      return holding.get().slot();
    }
    return isMine(instanceId, holding.get()) ? Cluster.HERE : Cluster.NOWHERE;
  }

  /** What this node has, and is to keep. */
  Set<InstanceId> mine() {
    Set<InstanceId> mine = new LinkedHashSet<>();
    for (InstanceId instanceId : offered) {
      state
          .holding(instanceId)
          .filter(h -> isMine(instanceId, h))
          .ifPresent(h -> mine.add(instanceId));
    }
    return mine;
  }

  /**
   * Gives up what this node has: by this epoch it never runs it again, whenever the others hear of
   * that.
   */
  Optional<OwnerEpoch> release(InstanceId instanceId) {
    released.keySet().retainAll(state.holdings().keySet());
    Optional<OwnerEpoch> held = state.holding(instanceId).filter(this::isHeldHere);
    held.ifPresent(ownerEpoch -> released.put(instanceId, ownerEpoch.epoch()));
    return held;
  }

  /** Everything that this node has, whether or not it is to keep it. */
  Set<InstanceId> held() {
    Set<InstanceId> held = new LinkedHashSet<>();
    state
        .holdings()
        .forEach(
            (instanceId, ownerEpoch) -> {
              if (isHeldHere(ownerEpoch)) {
                held.add(instanceId);
              }
            });
    return held;
  }

  @Override
  public Collection<InstanceId> parts(ServerId server) {
    return state.placement().parts(server);
  }

  @Override
  public boolean isOwned(ServerId server) {
    return parts(server).stream().anyMatch(instanceId -> state.holding(instanceId).isPresent());
  }

  @Override
  public boolean isExpected(ServerId server) {
    return isOwned(server) || offered.contains(InstanceId.first(server));
  }

  @Override
  public boolean hasCandidate(ServerId server) {
    return state.members().isEmpty()
        || parts(server).stream()
            .anyMatch(instanceId -> state.placement().wanted(instanceId).isPresent());
  }

  @Override
  public boolean knows(ServerId server) {
    return state.members().isEmpty() || !parts(server).isEmpty();
  }

  @Override
  public long epoch(InstanceId instanceId) {
    return state.holding(instanceId).map(OwnerEpoch::epoch).orElseGet(state::lastEpoch);
  }

  private boolean isMine(InstanceId instanceId, OwnerEpoch ownerEpoch) {
    return isHeldHere(ownerEpoch)
        && !Long.valueOf(ownerEpoch.epoch()).equals(released.get(instanceId))
        && offered.contains(instanceId)
        && state.placement().wanted(instanceId).filter(ownerEpoch::isOf).isPresent();
  }

  private boolean isHeldHere(OwnerEpoch ownerEpoch) {
    return ownerEpoch.slot() == slot && ownerEpoch.life() == life;
  }
}
