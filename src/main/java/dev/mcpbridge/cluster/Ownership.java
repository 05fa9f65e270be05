package dev.mcpbridge.cluster;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntSupplier;

/** One node's view of the owners of instances. Confined to the event loop. */
final class Ownership implements OwnershipView {
  private final ClusterState state;
  private final IntSupplier slot;
  private final long life;
  private final Map<InstanceId, Long> released = new HashMap<>();
  private Set<InstanceId> offered = Set.of();

  /**
   * @param slot number of this node; 0 while it has none
   */
  Ownership(ClusterState state, IntSupplier slot, long life) {
    this.state = state;
    this.slot = slot;
    this.life = life;
  }

  /** Sets the instances that this node can run. */
  void offer(Set<InstanceId> instances) {
    offered = new LinkedHashSet<>(instances);
  }

  Set<InstanceId> offered() {
    return offered;
  }

  /**
   * The slot of the owner; {@link Cluster#THIS_NODE} only if this node should keep the instance.
   */
  int owner(InstanceId instanceId) {
    Optional<OwnerEpoch> holding = state.holding(instanceId);
    if (holding.isEmpty()) {
      return Cluster.NO_OWNER;
    }
    if (holding.get().slot() != slot.getAsInt()) {
      return holding.get().slot();
    }
    return isMine(instanceId, holding.get()) ? Cluster.THIS_NODE : Cluster.NO_OWNER;
  }

  /** The instances that this node owns and should keep. */
  Set<InstanceId> assigned() {
    Set<InstanceId> mine = new LinkedHashSet<>();
    for (InstanceId instanceId : offered) {
      state
          .holding(instanceId)
          .filter(owner -> isMine(instanceId, owner))
          .ifPresent(owner -> mine.add(instanceId));
    }
    return mine;
  }

  /**
   * Releases an instance: this node never runs it again in this epoch, even before the other nodes
   * have received the release.
   */
  Optional<OwnerEpoch> release(InstanceId instanceId) {
    released.keySet().retainAll(state.holdings().keySet());
    Optional<OwnerEpoch> held = state.holding(instanceId).filter(this::isHeldHere);
    held.ifPresent(ownerEpoch -> released.put(instanceId, ownerEpoch.epoch()));
    return held;
  }

  /** All instances that this node owns, whether or not it should keep them. */
  Set<InstanceId> owned() {
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
  public Collection<InstanceId> instances(ServerId server) {
    return state.placement().instances(server);
  }

  @Override
  public boolean isOwned(ServerId server) {
    return instances(server).stream().anyMatch(instanceId -> state.holding(instanceId).isPresent());
  }

  @Override
  public boolean isExpected(ServerId server) {
    return isOwned(server) || offered.contains(InstanceId.first(server));
  }

  @Override
  public boolean hasCandidate(ServerId server) {
    return state.members().isEmpty()
        || instances(server).stream()
            .anyMatch(instanceId -> state.placement().assigned(instanceId).isPresent());
  }

  @Override
  public boolean knows(ServerId server) {
    return state.members().isEmpty() || !instances(server).isEmpty();
  }

  @Override
  public long epoch(InstanceId instanceId) {
    return state.holding(instanceId).map(OwnerEpoch::epoch).orElseGet(state::lastEpoch);
  }

  private boolean isMine(InstanceId instanceId, OwnerEpoch ownerEpoch) {
    return isHeldHere(ownerEpoch)
        && !Long.valueOf(ownerEpoch.epoch()).equals(released.get(instanceId))
        && offered.contains(instanceId)
        && state.placement().assigned(instanceId).filter(ownerEpoch::isOf).isPresent();
  }

  private boolean isHeldHere(OwnerEpoch ownerEpoch) {
    return ownerEpoch.slot() == slot.getAsInt() && ownerEpoch.incarnation() == life;
  }
}
