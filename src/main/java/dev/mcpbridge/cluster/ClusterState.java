package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.Command.Join;
import dev.mcpbridge.cluster.Command.Leave;
import dev.mcpbridge.cluster.Command.Put;
import dev.mcpbridge.cluster.Command.Release;
import dev.mcpbridge.cluster.Command.Remove;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.agreement.Entry;
import dev.mcpbridge.cluster.agreement.Replica;
import dev.mcpbridge.cluster.agreement.StateMachine;
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
 * The replicated state: members, owners, shared maps. It is changed by commands only, so it is the
 * same on all nodes.
 *
 * <p>{@link Placement} assigns each instance of a server to a member. The owner keeps the instance
 * until it releases it or is no longer a member.
 */
final class ClusterState implements StateMachine {

  /** Members, owners, the numbers of applied commands, and commands that wait for a majority. */
  private static final long MAX_OTHER_BYTES = 64L << 20;

  /**
   * Maximum size in bytes of a message of the agreement protocol: the whole state and the log, for
   * a node that joins. It follows from the bounds of these, regardless of the limits of calls,
   * since a node that cannot receive the state never becomes a member. A receiver allocates memory
   * for it only as pieces arrive, and only from peers that have proved that they have the secret.
   */
  static final int MAX_MESSAGE_BYTES =
      Math.toIntExact(Tables.MAX_WRITTEN_BYTES + Replica.MAX_LOG_BYTES + MAX_OTHER_BYTES);

  private final TreeMap<Integer, Member> members = new TreeMap<>();
  private final TreeMap<InstanceId, OwnerEpoch> holdings = new TreeMap<>();
  private final Tables tables = new Tables();
  private Placement placement = Placement.of(List.of(), Map.of());
  private final StateListener stateListener;
  private long millis;
  private long moves;
  private long lastEpoch;
  private volatile String bridge;

  /** Listener for applied commands. */
  interface StateListener {
    /**
     * @param map the map that the command addresses; null if there is no map
     * @param change the result; null if there is no map
     */
    void applied(Entry entry, String map, Change change);

    /** Members or owners have changed. */
    void moved();

    void restored();
  }

  ClusterState(StateListener stateListener) {
    this.stateListener = stateListener;
  }

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

  Tables tables() {
    return tables;
  }

  /** The primary's wall clock at the last command, in milliseconds. */
  long millis() {
    return millis;
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

  /** A node proposes commands about itself only; the primary alone declares other nodes lost. */
  @Override
  public boolean mayBeProposed(Entry entry) {
    int proposer = entry.proposer();
    Command command = Command.of(entry.command());
    if (command instanceof Join join) {
      return join.member().slot() == proposer;
    }
    if (command instanceof Leave leave) {
      return leave.slot() == proposer;
    }
    return !(command instanceof Release release) || release.slot() == proposer;
  }

  @Override
  public void apply(long op, Entry entry) {
    millis = entry.timeMillis();
    Command command = Command.of(entry.command());
    Change change = execute(op, command);
    stateListener.applied(entry, command.map(), change);
  }

  private Change execute(long op, Command command) {
    if (command instanceof Put put) {
      return tables.put(put, op, millis);
    }
    if (command instanceof Remove remove) {
      return tables.remove(remove.map(), remove.key(), remove.expected(), millis);
    }
    if (command instanceof Join join) {
      members.put(join.member().slot(), join.member());
      bridge = bridge == null ? join.bridge() : bridge;
      assignOwners();
    } else if (command instanceof Leave leave) {
      members
          .values()
          .removeIf(m -> m.slot() == leave.slot() && m.incarnation() == leave.incarnation());
      assignOwners();
    } else if (command instanceof Release release) {
      holdings.remove(
          release.instanceId(),
          new OwnerEpoch(release.slot(), release.incarnation(), release.epoch()));
      assignOwners();
    }
    return null;
  }

  /** Assigns owners to instances that have none. */
  private void assignOwners() {
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
    placement = Placement.of(members.values(), holdings);
    stateListener.moved();
  }

  @Override
  public byte[] snapshot() {
    WireWriter out = new WireWriter(4096);
    out.number(millis).number(moves).number(lastEpoch);
    out.optional(bridge, WireWriter::text);
    out.list(members.values(), (w, member) -> w.part(member, Member::write));
    out.list(
        holdings.entrySet(),
        (w, holding) ->
            w.text(holding.getKey().name()).part(holding.getValue(), OwnerEpoch::write));
    tables.write(out);
    return out.toBytes();
  }

  @Override
  public void restore(byte[] snapshot) {
    members.clear();
    holdings.clear();
    tables.clear();
    millis = 0;
    moves = 0;
    lastEpoch = 0;
    if (snapshot == null) {
      bridge = null;
    } else {
      WireReader in = new WireReader(snapshot);
      millis = in.number();
      moves = in.number();
      lastEpoch = in.number();
      bridge = in.optional(WireReader::text);
      in.list(r -> r.part(Member::read)).forEach(member -> members.put(member.slot(), member));
      in.list(r -> holdings.put(InstanceId.of(r.text()), r.part(OwnerEpoch::read)));
      tables.read(in);
    }
    placement = Placement.of(members.values(), holdings);
    stateListener.restored();
    stateListener.moved();
  }
}
