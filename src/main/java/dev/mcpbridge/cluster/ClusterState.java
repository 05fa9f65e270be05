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
 * What all nodes know: members, owners, shared maps. Changes by commands only, so that it is the
 * same everywhere.
 *
 * <p>A part of a server belongs to whom its {@link Placement} says. Who has it keeps it until it
 * says that it has stopped, or is gone.
 */
final class ClusterState implements StateMachine {

  /** Members, holdings, the numbers of applied commands, and commands that wait for a majority. */
  private static final long ROOM_FOR_THE_REST = 64L << 20;

  /**
   * The largest message in bytes that members exchange for the agreement: all of the state and the
   * log, for a node that joins. Follows from the bounds of those, whatever the limits of calls are,
   * since a node that cannot be told the state is never a member. A receiver takes memory for it
   * only as its pieces arrive, and only from peers that have proved to know the secret.
   */
  static final int MAX_TOLD_BYTES =
      Math.toIntExact(Tables.MAX_WRITTEN_BYTES + Replica.MAX_LOG_BYTES + ROOM_FOR_THE_REST);

  private final TreeMap<Integer, Member> members = new TreeMap<>();
  private final TreeMap<InstanceId, OwnerEpoch> holdings = new TreeMap<>();
  private final Tables tables = new Tables();
  private Placement placement = Placement.of(List.of(), Map.of());
  private final Witness witness;
  private long millis;
  private long moves;
  private long lastEpoch;
  private volatile String bridge;

  /** Who looks at what is decided. */
  interface Witness {
    /**
     * @param map that it was to change; null for none
     * @param change null where there is no such map
     */
    void applied(Entry entry, String map, Change change);

    /** Members or owners are others than before. */
    void moved();

    void restored();
  }

  ClusterState(Witness witness) {
    this.witness = witness;
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

  /** Who should have what. */
  Placement placement() {
    return placement;
  }

  Tables tables() {
    return tables;
  }

  /** The primary's clock at the last command. */
  long millis() {
    return millis;
  }

  /** Of whatever got an owner last. */
  long lastEpoch() {
    return lastEpoch;
  }

  /** What the first member has named the whole; null while there was none. For any thread. */
  String bridge() {
    return bridge;
  }

  /** How often something got an owner. */
  long moves() {
    return moves;
  }

  /** That another node is gone is for the primary to say, and is not proposed. */
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
    Change change = obey(op, command);
    witness.applied(entry, command.map(), change);
  }

  private Change obey(long op, Command command) {
    if (command instanceof Put put) {
      return tables.put(put, op, millis);
    }
    if (command instanceof Remove remove) {
      return tables.remove(remove.map(), remove.key(), remove.expected(), millis);
    }
    if (command instanceof Join join) {
      members.put(join.member().slot(), join.member());
      bridge = bridge == null ? join.bridge() : bridge;
      settle();
    } else if (command instanceof Leave leave) {
      members.values().removeIf(m -> m.slot() == leave.slot() && m.life() == leave.life());
      settle();
    } else if (command instanceof Release release) {
      holdings.remove(
          release.instanceId(), new OwnerEpoch(release.slot(), release.life(), release.epoch()));
      settle();
    }
    return null;
  }

  /** What has no owner any more gets one. */
  private void settle() {
    holdings.values().removeIf(ownerEpoch -> members.values().stream().noneMatch(ownerEpoch::isOf));
    Placement due = Placement.of(members.values(), holdings);
    for (InstanceId instanceId : new TreeSet<>(due.wanted())) {
      if (!holdings.containsKey(instanceId)) {
        moves++;
        lastEpoch = Math.max(millis, lastEpoch + 1);
        Member owner = due.wanted(instanceId).orElseThrow();
        holdings.put(instanceId, new OwnerEpoch(owner.slot(), owner.life(), lastEpoch));
      }
    }
    placement = Placement.of(members.values(), holdings);
    witness.moved();
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
    bridge = null;
    if (snapshot != null) {
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
    witness.restored();
    witness.moved();
  }
}
