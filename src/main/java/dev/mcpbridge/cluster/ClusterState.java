package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.Command.Join;
import dev.mcpbridge.cluster.Command.Leave;
import dev.mcpbridge.cluster.Command.Release;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The state of the cluster: members and the owners of instances. It is one entry of the store, and
 * a command replaces it by compare-and-set.
 *
 * <p>{@link Placement} assigns each instance of a server to a member. The owner keeps the instance
 * until it releases it or is no longer a member.
 */
final class ClusterState {

  private final TreeMap<Integer, Member> members = new TreeMap<>();
  private final TreeMap<InstanceId, OwnerEpoch> holdings = new TreeMap<>();
  private Placement placement = Placement.of(List.of(), Map.of());
  private long moves;
  private long lastEpoch;
  private volatile String bridge;

  Collection<Member> members() {
    return members.values();
  }

  Optional<Member> member(int slot) {
    return Optional.ofNullable(members.get(slot));
  }

  Optional<OwnerEpoch> holding(InstanceId instanceId) {
    return Optional.ofNullable(holdings.get(instanceId));
  }

  Map<InstanceId, OwnerEpoch> holdings() {
    return holdings;
  }

  /** The assignment of instances to members. */
  Placement placement() {
    return placement;
  }

  /** The epoch of the last assignment of an owner. */
  long lastEpoch() {
    return lastEpoch;
  }

  /** The id of the bridge, chosen by the first member; null before that. Thread-safe. */
  String bridge() {
    return bridge;
  }

  /** The number of times that an instance got an owner. */
  long moves() {
    return moves;
  }

  /**
   * The state after a command, as bytes.
   *
   * @param state null for the beginning
   * @param millis wall clock of the node that proposes the command
   */
  static byte[] after(byte[] state, Command command, long millis) {
    ClusterState next = new ClusterState();
    next.restore(state);
    next.execute(command, millis);
    return next.toBytes();
  }

  private void execute(Command command, long millis) {
    if (command instanceof Join join) {
      members.put(join.member().slot(), join.member());
      bridge = bridge == null ? join.bridge() : bridge;
    } else if (command instanceof Leave leave) {
      members
          .values()
          .removeIf(m -> m.slot() == leave.slot() && m.incarnation() == leave.incarnation());
    } else if (command instanceof Release release) {
      holdings.remove(
          release.instanceId(),
          new OwnerEpoch(release.slot(), release.incarnation(), release.epoch()));
    }
    assignOwners(millis);
  }

  /** Assigns owners to instances that have none. */
  private void assignOwners(long millis) {
    holdings.values().removeIf(ownerEpoch -> members.values().stream().noneMatch(ownerEpoch::isOf));
    Placement target = Placement.of(members.values(), holdings);
    for (InstanceId instanceId : new TreeSet<>(target.assigned())) {
      if (!holdings.containsKey(instanceId)) {
        moves++;
        lastEpoch = Math.max(millis, lastEpoch + 1);
        Member owner = target.assigned(instanceId).orElseThrow();
        holdings.put(instanceId, new OwnerEpoch(owner.slot(), owner.incarnation(), lastEpoch));
      }
    }
  }

  private byte[] toBytes() {
    WireWriter out = new WireWriter(4096);
    out.number(moves).number(lastEpoch);
    out.optional(bridge, WireWriter::text);
    out.list(members.values(), (w, member) -> w.part(member, Member::write));
    out.list(
        holdings.entrySet(),
        (w, holding) ->
            w.text(holding.getKey().name()).part(holding.getValue(), OwnerEpoch::write));
    return out.toBytes();
  }

  /**
   * Takes over a state.
   *
   * @param snapshot null for the beginning
   */
  void restore(byte[] snapshot) {
    members.clear();
    holdings.clear();
    moves = 0;
    lastEpoch = 0;
    if (snapshot == null) {
      bridge = null;
    } else {
      WireReader in = new WireReader(snapshot);
      moves = in.number();
      lastEpoch = in.number();
      bridge = in.optional(WireReader::text);
      in.list(r -> r.part(Member::read)).forEach(member -> members.put(member.slot(), member));
      in.list(r -> holdings.put(InstanceId.of(r.text()), r.part(OwnerEpoch::read)));
    }
    placement = Placement.of(members.values(), holdings);
  }
}
