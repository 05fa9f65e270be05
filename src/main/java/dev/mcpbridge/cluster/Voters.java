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

  static Future<Void> refused(String message) {
    return Future.failedFuture(new BridgeException(ErrorCode.VOTERS_UNCHANGED, message));
  }

  /** The member with a name or an address. */
  static Optional<Member> member(Collection<Member> members, String node) {
    return members.stream()
        .filter(m -> m.name().equals(node) || m.address().equals(node))
        .findFirst();
  }

  /** The number of a voter by its name or address; it may be lost. */
  private static Optional<Integer> voter(
      Map<Integer, String> voters, Optional<Member> member, String node) {
    return voters.entrySet().stream()
        .filter(
            each ->
                FirstStart.address(each.getValue()).equals(node)
                    || member.filter(m -> m.slot() == each.getKey()).isPresent())
        .map(Map.Entry::getKey)
        .findFirst();
  }

  /** Makes this node a voter. */
  static Future<Void> add(Engine engine, int number, String address) {
    return engine.voters().containsKey(number)
        ? Future.succeededFuture()
        : engine.becomeVoter(number, FirstStart.server(address));
  }

  /** Removes a voter. Its number stays with its address. */
  static Future<Void> remove(Engine engine, Collection<Member> members, String node) {
    Map<Integer, String> voters = engine.voters();
    Optional<Integer> voter = voter(voters, member(members, node), node);
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
    return kept.compose(done -> engine.removeVoter(number));
  }
}
