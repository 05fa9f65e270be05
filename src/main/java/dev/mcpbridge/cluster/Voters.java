package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.engine.Engine;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Changes which nodes decide, one at a time. */
final class Voters {
  private Voters() {}

  static Future<Void> change(
      Engine engine, Collection<Member> members, String node, boolean isVoter) {
    Map<Integer, String> voters = engine.voters();
    if (voters.isEmpty()) {
      return refused("The ZooKeeper servers of this cluster are not run by its nodes");
    }
    Optional<Member> member =
        members.stream().filter(m -> m.name().equals(node) || m.address().equals(node)).findFirst();
    Optional<Integer> voter =
        voters.entrySet().stream()
            .filter(
                each ->
                    FirstStart.address(each.getValue()).equals(node)
                        || member.filter(m -> m.slot() == each.getKey()).isPresent())
            .map(Map.Entry::getKey)
            .findFirst();
    return isVoter ? add(engine, node, member, voter) : remove(engine, node, voter, voters);
  }

  private static Future<Void> add(
      Engine engine, String node, Optional<Member> member, Optional<Integer> voter) {
    if (voter.isPresent()) {
      return Future.succeededFuture();
    }
    if (member.isEmpty()) {
      return refused("Node '" + node + "' is not a member; start it first");
    }
    String server = FirstStart.server(member.get().address());
    return engine.changeVoters(Map.of(member.get().slot(), server), List.of());
  }

  /** The number of a removed voter stays with its address. */
  private static Future<Void> remove(
      Engine engine, String node, Optional<Integer> voter, Map<Integer, String> voters) {
    if (voter.isEmpty()) {
      return refused("Node '" + node + "' is not a voter");
    }
    if (voters.size() == 1) {
      return refused("Node '" + node + "' is the only voter; add another one first");
    }
    int number = voter.get();
    String key = Bootstrap.NUMBERS + number;
    byte[] address = FirstStart.address(voters.get(number)).getBytes(StandardCharsets.UTF_8);
    Future<?> kept =
        engine.get(key) == null
            ? engine.commit(List.of(new Engine.Change(key, Engine.ABSENT, address)))
            : Future.succeededFuture();
    return kept.compose(done -> engine.changeVoters(Map.of(), List.of(number)));
  }

  private static Future<Void> refused(String message) {
    return Future.failedFuture(new BridgeException(ErrorCode.VOTERS_UNCHANGED, message));
  }
}
