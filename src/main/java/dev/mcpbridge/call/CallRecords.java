package dev.mcpbridge.call;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.cluster.SharedMap.Keep;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import io.vertx.core.Future;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The calls of which all nodes know, under names that are taken before a call runs. What ran on a
 * node that is gone has an unknown end, and is never run again. Confined to the event loop.
 */
final class CallRecords {
  private static final long RUNNING_MILLIS = 24 * 3600 * 1000L;

  private final Cluster cluster;
  private final SharedMap records;
  private final Keep keep;

  /**
   * A name as it is after it was tried to take it.
   *
   * @param isTaken whether the call is now this node's to run
   * @param record of whoever had it before, or of the new one
   */
  record Claim(boolean isTaken, long version, CallRecord record) {}

  /**
   * @param keep what becomes of calls that are over where there is no room for more
   */
  CallRecords(Cluster cluster, String map, Keep keep) {
    this.cluster = cluster;
    this.records = cluster.map(map);
    this.keep = keep;
  }

  Future<Claim> claim(String name, String owner, ServerId server, Target target, long millis) {
    CallRecord own =
        new CallRecord(owner, server, target, millis, cluster.slot(), cluster.life(), null);
    return take(name, SharedMap.ABSENT, own);
  }

  /**
   * Takes a name once more that this process had taken before: what it may still say of that, which
   * is on its way, counts no more.
   */
  Future<Claim> claimAgain(String name, Claim before) {
    return take(name, before.version(), before.record());
  }

  private Future<Claim> take(String name, long expected, CallRecord own) {
    return records
        .put(name, expected, own.toBytes(), RUNNING_MILLIS, Keep.FIRM)
        .compose(
            change -> {
              if (change.isFull()) {
                throw new BridgeException(ErrorCode.OVERLOADED, "Too many calls are kept")
                    .withRetryAfter(10_000);
              }
              boolean wasFreed = !change.isDone() && !change.item().isThere();
              return wasFreed
                  ? take(name, SharedMap.ABSENT, own)
                  : Future.succeededFuture(claim(change, own));
            });
  }

  private Claim claim(Change change, CallRecord own) {
    return change.isDone()
        ? new Claim(true, change.item().version(), own)
        : new Claim(false, change.item().version(), known(change.item()));
  }

  /** Whether this very process has taken the name, and not said how the call ended. */
  boolean isOwnAndOpen(CallRecord record) {
    return record.outcome() == null
        && record.slot() == cluster.slot()
        && record.life() == cluster.life();
  }

  /**
   * What the other nodes are told of the end of a call. Where nodes cannot agree in time it is
   * tried again, since to the others the call would run for ever.
   *
   * @param tried done after the first try, whether they know it then or not
   * @param known done when they know it
   */
  record EndNotice(Future<Void> tried, Future<Void> known) {

    private static EndNotice say(Supplier<Future<Change>> attempt) {
      Future<Change> first = attempt.get();
      return new EndNotice(
          first.<Void>mapEmpty().otherwiseEmpty(),
          first.recover(undecided -> insist(attempt)).mapEmpty());
    }

    private static Future<Change> insist(Supplier<Future<Change>> attempt) {
      return attempt.get().recover(undecided -> insist(attempt));
    }
  }

  /** Keeps how a call ended; where there is no room for that, at least that it did. */
  EndNotice settle(String name, Claim claim, Future<CallOutcome> outcome, long keptMillis) {
    byte[] ended = claim.record().ended(outcome).toBytes();
    byte[] fact = claim.record().ended(Future.failedFuture(notKept())).toBytes();
    return EndNotice.say(
        () ->
            records
                .put(name, claim.version(), ended, keptMillis, keep)
                .compose(
                    change ->
                        change.isFull()
                            ? records.put(name, claim.version(), fact, keptMillis, keep)
                            : Future.succeededFuture(change)));
  }

  /** Of a call that is over. */
  static BridgeException notKept() {
    return new BridgeException(
            ErrorCode.OUTCOME_NOT_KEPT, "The call was run; its outcome was too large to be kept")
        .withExecuted(Executed.YES);
  }

  /** The name is free again: nothing has happened. */
  EndNotice release(String name, Claim claim) {
    return EndNotice.say(() -> records.remove(name, claim.version()));
  }

  Future<Optional<CallRecord>> find(String name) {
    return records
        .get(name)
        .map(item -> item.isThere() ? Optional.of(known(item)) : Optional.empty());
  }

  private CallRecord known(Item item) {
    CallRecord record = CallRecord.of(item.value());
    boolean isLost = record.outcome() == null && !cluster.lives(record.slot(), record.life());
    return isLost ? record.ended(Future.failedFuture(lost(record))) : record;
  }

  private BridgeException lost(CallRecord record) {
    return new BridgeException(
            ErrorCode.NODE_LOST,
            "Node " + cluster.name(record.slot()) + " was lost while the call ran")
        .withExecuted(Executed.UNKNOWN);
  }
}
