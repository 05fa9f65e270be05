package dev.mcpbridge.cluster;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Who should have what. Those that can run a server and do not leave stand in a row for it, by
 * rendezvous hashing; each is due as many of its parts as the others, and the first of them one
 * more where that does not come out even. Whoever has a part keeps it while it is due that many, so
 * a node that comes or goes moves only what it gets or had.
 *
 * <p>It follows from members and holdings alone, and so is the same at every node.
 */
final class Placement {
  private final Map<InstanceId, Member> wanted = new HashMap<>();
  private final Map<ServerId, Set<InstanceId>> parts = new HashMap<>();

  private Placement() {}

  static Placement of(Collection<Member> members, Map<InstanceId, OwnerEpoch> holdings) {
    Placement placement = new Placement();
    members.forEach(member -> member.parts().forEach(placement::add));
    holdings.keySet().forEach(placement::add);
    List<Member> staying = members.stream().filter(member -> !member.isLeaving()).toList();
    placement.parts.forEach((server, all) -> placement.place(server, all, staying, holdings));
    return placement;
  }

  private void add(InstanceId instanceId) {
    parts.computeIfAbsent(instanceId.server(), server -> new TreeSet<>()).add(instanceId);
  }

  /** Whoever should have a part; nobody where nobody can run it. */
  Optional<Member> wanted(InstanceId instanceId) {
    return Optional.ofNullable(wanted.get(instanceId));
  }

  /** All parts of a server that somebody can run, or still has. */
  Collection<InstanceId> parts(ServerId server) {
    return parts.getOrDefault(server, Set.of());
  }

  /** The parts that somebody should have. */
  Set<InstanceId> wanted() {
    return wanted.keySet();
  }

  private void place(
      ServerId server,
      Set<InstanceId> all,
      List<Member> staying,
      Map<InstanceId, OwnerEpoch> holdings) {
    List<Member> row =
        Rendezvous.row(
            server.name(),
            staying.stream().filter(member -> all.stream().anyMatch(member::canRun)).toList());
    Map<Member, Integer> due = due(row, (int) all.stream().filter(p -> isAble(row, p)).count());
    List<InstanceId> open = new ArrayList<>();
    for (InstanceId instanceId : all) {
      OwnerEpoch ownerEpoch = holdings.get(instanceId);
      row.stream()
          .filter(
              member -> ownerEpoch != null && ownerEpoch.isOf(member) && member.canRun(instanceId))
          .filter(member -> due.get(member) > 0)
          .findFirst()
          .ifPresentOrElse(holder -> give(instanceId, holder, due), () -> open.add(instanceId));
    }
    for (InstanceId instanceId : open) {
      List<Member> able = row.stream().filter(member -> member.canRun(instanceId)).toList();
      able.stream()
          .filter(member -> due.get(member) > 0)
          .findFirst()
          .or(() -> able.stream().findFirst())
          .ifPresent(member -> give(instanceId, member, due));
    }
  }

  private static boolean isAble(List<Member> row, InstanceId instanceId) {
    return row.stream().anyMatch(member -> member.canRun(instanceId));
  }

  private static Map<Member, Integer> due(List<Member> row, int parts) {
    Map<Member, Integer> due = new HashMap<>();
    for (int rank = 0; rank < row.size(); rank++) {
      due.put(row.get(rank), parts / row.size() + (rank < parts % row.size() ? 1 : 0));
    }
    return due;
  }

  private void give(InstanceId instanceId, Member to, Map<Member, Integer> due) {
    due.merge(to, -1, Integer::sum);
    wanted.put(instanceId, to);
  }
}
