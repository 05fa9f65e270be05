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
 * Assigns instances to members. The members that can run a server and are not leaving are ranked by
 * rendezvous hashing. The instances are divided evenly; the first members in the ranking get one
 * more if there is a remainder. An owner keeps an instance as long as it is within its share, so a
 * node that joins or leaves moves only the instances that it gets or had.
 *
 * <p>The result depends only on members and current owners, so it is the same at every node.
 */
final class Placement {
  private final Map<InstanceId, Member> assigned = new HashMap<>();
  private final Map<ServerId, Set<InstanceId>> instances = new HashMap<>();

  private Placement() {}

  static Placement of(Collection<Member> members, Map<InstanceId, OwnerEpoch> holdings) {
    Placement placement = new Placement();
    members.forEach(member -> member.instances().forEach(placement::add));
    holdings.keySet().forEach(placement::add);
    List<Member> staying = members.stream().filter(member -> !member.isLeaving()).toList();
    placement.instances.forEach((server, all) -> placement.place(server, all, staying, holdings));
    return placement;
  }

  private void add(InstanceId instanceId) {
    instances.computeIfAbsent(instanceId.server(), server -> new TreeSet<>()).add(instanceId);
  }

  /** The member that should own an instance; empty if no member can run it. */
  Optional<Member> assigned(InstanceId instanceId) {
    return Optional.ofNullable(assigned.get(instanceId));
  }

  /** All instances of a server that a member can run or still owns. */
  Collection<InstanceId> instances(ServerId server) {
    return instances.getOrDefault(server, Set.of());
  }

  /** The instances that are assigned to a member. */
  Set<InstanceId> assigned() {
    return assigned.keySet();
  }

  private void place(
      ServerId server,
      Set<InstanceId> all,
      List<Member> staying,
      Map<InstanceId, OwnerEpoch> holdings) {
    List<Member> ranking =
        Rendezvous.rank(
            server.name(),
            staying.stream().filter(member -> all.stream().anyMatch(member::canRun)).toList());
    long runnable = all.stream().filter(id -> canRun(ranking, id)).count();
    Map<Member, Integer> shares = shares(ranking, (int) runnable);
    List<InstanceId> unassigned = new ArrayList<>();
    for (InstanceId instanceId : all) {
      OwnerEpoch ownerEpoch = holdings.get(instanceId);
      ranking.stream()
          .filter(
              member -> ownerEpoch != null && ownerEpoch.isOf(member) && member.canRun(instanceId))
          .filter(member -> shares.get(member) > 0)
          .findFirst()
          .ifPresentOrElse(
              owner -> assign(instanceId, owner, shares), () -> unassigned.add(instanceId));
    }
    for (InstanceId instanceId : unassigned) {
      List<Member> candidates =
          ranking.stream().filter(member -> member.canRun(instanceId)).toList();
      candidates.stream()
          .filter(member -> shares.get(member) > 0)
          .findFirst()
          .or(() -> candidates.stream().findFirst())
          .ifPresent(member -> assign(instanceId, member, shares));
    }
  }

  private static boolean canRun(List<Member> ranking, InstanceId instanceId) {
    return ranking.stream().anyMatch(member -> member.canRun(instanceId));
  }

  private static Map<Member, Integer> shares(List<Member> ranking, int count) {
    Map<Member, Integer> shares = new HashMap<>();
    int size = ranking.size();
    for (int rank = 0; rank < size; rank++) {
      shares.put(ranking.get(rank), count / size + (rank < count % size ? 1 : 0));
    }
    return shares;
  }

  private void assign(InstanceId instanceId, Member to, Map<Member, Integer> shares) {
    shares.merge(to, -1, Integer::sum);
    assigned.put(instanceId, to);
  }
}
