package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.agreement.Entry;
import dev.mcpbridge.cluster.agreement.Replica;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The commands of this node that are not decided yet. Confined to the loop. */
final class PendingCommands {
  private static final long PATIENCE_NANOS = 5_000_000_000L;

  private final Replica replica;
  private final int self;
  private final Map<Long, Open> open = new HashMap<>();

  /** One that is decided before it has a number, where nobody else has to agree. */
  private Promise<Change> makingNow;

  private record Open(Promise<Change> promise, long untilNanos) {}

  PendingCommands(Replica replica, int self) {
    this.replica = replica;
    this.self = self;
  }

  /** Fails with NO_QUORUM where it is not decided in time, which leaves open whether it will be. */
  Future<Change> make(Command command, long now) {
    Promise<Change> promise = Promise.promise();
    makingNow = promise;
    long number = replica.propose(command.toBytes(), now);
    if (makingNow != null) {
      makingNow = null;
      open.put(number, new Open(promise, now + PATIENCE_NANOS));
    }
    return promise.future();
  }

  void applied(Entry entry, Change change) {
    if (entry.proposer() != self || entry.incarnation() != replica.incarnation()) {
      return;
    }
    Open decided = open.remove(entry.number());
    if (decided != null) {
      decided.promise().complete(change);
    } else if (makingNow != null) {
      Promise<Change> made = makingNow;
      makingNow = null;
      made.complete(change);
    }
  }

  void giveUpLate(long now) {
    List<Map.Entry<Long, Open>> late = new ArrayList<>();
    open.entrySet().removeIf(each -> each.getValue().untilNanos() <= now && late.add(each));
    for (Map.Entry<Long, Open> each : late) {
      replica.forget(each.getKey());
      each.getValue()
          .promise()
          .fail(
              new BridgeException(
                      ErrorCode.NO_QUORUM, "More than half of the nodes have to agree, and do not")
                  .withRetryAfter(2_000));
    }
  }
}
