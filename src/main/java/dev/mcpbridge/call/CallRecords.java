package dev.mcpbridge.call;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import io.vertx.core.Future;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Records of calls that all nodes share, under names that are claimed before a call runs. The
 * outcome of a call whose node was lost is unknown, and the call is never run again. Confined to
 * the event loop.
 */
final class CallRecords {
  private static final long RUNNING_MILLIS = 24 * 3600 * 1000L;

  private final Cluster cluster;
  private final Bus bus;
  private final String map;
  private final SharedMap records;
  private final Eviction eviction;

  /**
   * The result of an attempt to claim a name.
   *
   * @param isGranted whether this node owns the name now and has to run the call
   * @param record the record of the present owner, new or earlier
   */
  record Claim(boolean isGranted, long version, CallRecord record) {}

  /**
   * @param eviction whether records of ended calls may be evicted when there is no room
   */
  CallRecords(Cluster cluster, Bus bus, String map, Eviction eviction) {
    this.cluster = cluster;
    this.bus = bus;
    this.map = map;
    this.records = cluster.map(map);
    this.eviction = eviction;
  }

  /**
   * Sends large results of this process to other nodes that ask for them.
   *
   * @param outcomes the outcome of an ended call by the name of its record; null if not kept here
   */
  void open(Function<String, Future<CallOutcome>> outcomes) {
    bus.serve(
        Addresses.largeResult(map, cluster.slot()),
        name -> {
          Future<CallOutcome> outcome = outcomes.apply(name);
          return outcome != null
                  && outcome.succeeded()
                  && outcome.result() instanceof CallOutcome.Completed completed
              ? Future.succeededFuture(completed.result())
              : Future.failedFuture(notKept());
        });
  }

  /** The record with its result, which the node that ran the call may have to send. */
  Future<CallRecord> complete(String name, CallRecord record) {
    boolean isLarge =
        record.outcome() != null
            && record.outcome().failed()
            && record.outcome().cause() instanceof BridgeException cause
            && cause.code() == ErrorCode.RESPONSE_TOO_LARGE
            && record.slot() != cluster.slot()
            && cluster.isAlive(record.slot(), record.incarnation());
    return isLarge
        ? bus.request(Addresses.largeResult(map, record.slot()), name)
            .map(json -> record.ended(Future.succeededFuture(new CallOutcome.Completed(json))))
            .otherwise(record)
        : Future.succeededFuture(record);
  }

  Future<Claim> claim(String name, String owner, ServerId server, Target target, long millis) {
    CallRecord record =
        new CallRecord(owner, server, target, millis, cluster.slot(), cluster.incarnation(), null);
    return take(name, SharedMap.ABSENT, record);
  }

  /**
   * Claims a name again that this process claimed before. A change of the earlier claim that is
   * still in flight no longer applies.
   */
  Future<Claim> claimAgain(String name, Claim before) {
    return take(name, before.version(), before.record());
  }

  private Future<Claim> take(String name, long expected, CallRecord record) {
    return records
        .put(name, expected, record.toBytes(), RUNNING_MILLIS, Eviction.NEVER)
        .compose(
            change -> {
              if (change.isFull()) {
                throw new BridgeException(
                        ErrorCode.OVERLOADED, "The limit of stored calls is reached")
                    .withRetryAfter(10_000);
              }
              boolean wasFreed = !change.isDone() && !change.item().isPresent();
              return wasFreed
                  ? take(name, SharedMap.ABSENT, record)
                  : Future.succeededFuture(claim(change, record));
            });
  }

  private Claim claim(Change change, CallRecord record) {
    return change.isDone()
        ? new Claim(true, change.item().version(), record)
        : new Claim(false, change.item().version(), read(change.item()));
  }

  /** Whether this process claimed the name and has not stored an outcome. */
  boolean isOwnAndOpen(CallRecord record) {
    return record.outcome() == null
        && record.slot() == cluster.slot()
        && record.incarnation() == cluster.incarnation();
  }

  /**
   * The replication of the end of a call. It is retried if the nodes cannot agree in time;
   * otherwise the call would never end for the other nodes.
   *
   * @param attempted completes after the first attempt, successful or not
   * @param stored completes when the end is stored
   */
  record OutcomeReplication(Future<Void> attempted, Future<Void> stored) {

    private static OutcomeReplication send(Supplier<Future<Change>> attempt) {
      Future<Change> first = attempt.get();
      return new OutcomeReplication(
          first.<Void>mapEmpty().otherwiseEmpty(),
          first.recover(undecided -> retry(attempt)).mapEmpty());
    }

    private static Future<Change> retry(Supplier<Future<Change>> attempt) {
      return attempt.get().recover(undecided -> retry(attempt));
    }
  }

  /** Stores the outcome of a call, or only the fact that it ended if there is no room. */
  OutcomeReplication settle(
      String name, Claim claim, Future<CallOutcome> outcome, long retentionMillis) {
    byte[] ended = claim.record().ended(outcome).toBytes();
    byte[] endOnly = claim.record().ended(Future.failedFuture(notKept())).toBytes();
    return OutcomeReplication.send(
        () ->
            records
                .put(name, claim.version(), ended, retentionMillis, eviction)
                .compose(
                    change ->
                        change.isFull()
                            ? records.put(name, claim.version(), endOnly, retentionMillis, eviction)
                            : Future.succeededFuture(change)));
  }

  /** The error for an ended call whose outcome was not stored. */
  static BridgeException notKept() {
    return new BridgeException(
            ErrorCode.OUTCOME_NOT_KEPT,
            "The call was executed, but its outcome was too large to be stored")
        .withExecuted(Executed.YES);
  }

  /** Releases a name, since nothing was executed. */
  OutcomeReplication release(String name, Claim claim) {
    return OutcomeReplication.send(() -> records.remove(name, claim.version()));
  }

  Future<Optional<CallRecord>> find(String name) {
    return records
        .get(name)
        .compose(
            item ->
                item.isPresent()
                    ? complete(name, read(item)).map(Optional::of)
                    : Future.succeededFuture(Optional.empty()));
  }

  /** Reads this node's copy, which may be stale. */
  Optional<CallRecord> cached(String name) {
    Item item = records.cached(name);
    return item.isPresent() ? Optional.of(read(item)) : Optional.empty();
  }

  void onChange(Runnable listener) {
    records.onChange(listener);
  }

  private CallRecord read(Item item) {
    CallRecord record = CallRecord.of(item.value());
    boolean isLost =
        record.outcome() == null && !cluster.isAlive(record.slot(), record.incarnation());
    return isLost ? record.ended(Future.failedFuture(lost(record))) : record;
  }

  private BridgeException lost(CallRecord record) {
    return new BridgeException(
            ErrorCode.NODE_LOST,
            "Node " + cluster.name(record.slot()) + " was lost while the call ran")
        .withExecuted(Executed.UNKNOWN);
  }
}
