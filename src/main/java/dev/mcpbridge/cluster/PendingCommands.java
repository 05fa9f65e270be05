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

/** The commands of this node that are not committed yet. Confined to the event loop. */
final class PendingCommands {
  private static final long TIMEOUT_NANOS = 5_000_000_000L;

  private final Replica replica;
  private final int self;
  private final Map<Long, Open> open = new HashMap<>();

  /** A command that may be applied before it has a number, if this node alone is the majority. */
  private Promise<Change> proposing;

  private record Open(Promise<Change> promise, long untilNanos) {}

  PendingCommands(Replica replica, int self) {
    this.replica = replica;
    this.self = self;
  }

  /** Fails with NO_QUORUM if it is not committed in time; it may still be committed later. */
  Future<Change> make(Command command, long now) {
    Promise<Change> promise = Promise.promise();
    proposing = promise;
    long number = replica.propose(command.toBytes(), now);
    if (proposing != null) {
      proposing = null;
      open.put(number, new Open(promise, now + TIMEOUT_NANOS));
    }
    return promise.future();
  }

  void applied(Entry entry, Change change) {
    if (entry.proposer() != self || entry.incarnation() != replica.incarnation()) {
      return;
    }
    Open committed = open.remove(entry.number());
    if (committed != null) {
      committed.promise().complete(change);
    } else if (proposing != null) {
      Promise<Change> promise = proposing;
      proposing = null;
      promise.complete(change);
    }
  }

  void failExpired(long now) {
    List<Map.Entry<Long, Open>> expired = new ArrayList<>();
    open.entrySet().removeIf(each -> each.getValue().untilNanos() <= now && expired.add(each));
    for (Map.Entry<Long, Open> each : expired) {
      replica.forget(each.getKey());
      each.getValue()
          .promise()
          .fail(
              new BridgeException(
                      ErrorCode.NO_QUORUM, "A majority of the nodes did not agree in time")
                  .withRetryAfter(2_000));
    }
  }
}
