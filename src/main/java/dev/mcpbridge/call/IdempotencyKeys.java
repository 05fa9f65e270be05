package dev.mcpbridge.call;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Runs a request at most once for each key (IETF draft-ietf-httpapi-idempotency-key-header-07). The
 * key is claimed before the call runs. The outcome is stored for a day and returned to repetitions
 * of the request; a failure that certainly had no effect releases the key, so that a repetition
 * runs the call again. No key is evicted within its day: if a caller has too many, requests with
 * new keys are refused before they run. If outcomes take too much memory, the oldest are reduced to
 * the fact that the call was executed.
 */
public final class IdempotencyKeys {
  private static final long RETENTION_MILLIS = 24 * 3600 * 1000L;
  private static final Shares.Limit KEYS =
      new Shares.Limit("idempotency keys of a day", "", 100_000, 60_000);

  /** The limit for all nodes of a cluster together. */
  private static final Shares.Limit KEYS_OF_ALL_NODES =
      new Shares.Limit(KEYS.resource(), KEYS.key(), 20_000, KEYS.retryAfterMillis());

  private static final long MAX_BYTES = 64L << 20;

  /** Shorter outcomes are never dropped; those of all keys take at most as much memory again. */
  private static final int LARGE = 512;

  private final Clock clock;
  private final CallRecords records;
  private final Map<IdempotencyKey, Entry> entries = new LinkedHashMap<>();
  private final Map<String, Outcomes> large = new HashMap<>();
  private final Shares shares;
  private long bytes;

  /**
   * @param route method and path; keys of different routes are independent
   */
  public record IdempotencyKey(String caller, String route, String value) {}

  /** The large outcomes of one caller, oldest first. */
  private static final class Outcomes {
    final Deque<Entry> entries = new ArrayDeque<>();
    long bytes;

    void add(Entry entry) {
      entries.add(entry);
      bytes += entry.size;
    }

    void remove(Entry entry) {
      if (entries.remove(entry)) {
        bytes -= entry.size;
      }
    }
  }

  private static final class Entry {
    final String share;
    final String fingerprint;
    final long sinceMillis;
    Future<CallOutcome> outcome;

    /** The name of its record for all nodes. */
    String name;

    /** Whether the end of the call is not yet stored on the other nodes. */
    boolean isUnsettled;

    int size;

    Entry(String share, String fingerprint, long sinceMillis) {
      this.share = share;
      this.fingerprint = fingerprint;
      this.sinceMillis = sinceMillis;
    }

    boolean isDone() {
      return outcome != null && outcome.isComplete();
    }

    boolean isRemovable() {
      return isDone() && !isUnsettled;
    }
  }

  /** Keys of a single node. */
  IdempotencyKeys(Clock clock, BooleanSupplier severalCallers) {
    this.clock = clock;
    this.records = null;
    this.shares = new Shares(KEYS, severalCallers);
  }

  /** Keys shared by all nodes of a cluster. */
  IdempotencyKeys(Clock clock, Cluster cluster, Bus bus, BooleanSupplier severalCallers) {
    this.clock = clock;
    this.shares = new Shares(cluster.isAlone() ? KEYS : KEYS_OF_ALL_NODES, severalCallers);
    this.records =
        cluster.isAlone() ? null : new CallRecords(cluster, bus, "idempotency", Eviction.NEVER);
  }

  /** The same, which also sends large outcomes to other nodes that ask for them. */
  public static IdempotencyKeys open(
      Clock clock, Cluster cluster, Bus bus, BooleanSupplier severalCallers) {
    IdempotencyKeys keys = new IdempotencyKeys(clock, cluster, bus, severalCallers);
    if (keys.records != null) {
      keys.records.open(keys::largeOutcome);
    }
    return keys;
  }

  private Future<CallOutcome> largeOutcome(String name) {
    return large.values().stream()
        .flatMap(own -> own.entries.stream())
        .filter(entry -> name.equals(entry.name))
        .findFirst()
        .map(entry -> entry.outcome)
        .orElse(null);
  }

  /** Runs a request. The same key with another tool or other arguments is refused. */
  public Future<CallOutcome> once(
      IdempotencyKey idempotencyKey, CallRequest request, Supplier<Future<CallOutcome>> call) {
    String fingerprint = fingerprint(request);
    return records == null
        ? once(idempotencyKey, request.caller().share(), fingerprint, call)
        : onceOnAnyNode(idempotencyKey, fingerprint, request, call);
  }

  /** Keys of calls of this node are found locally; others are claimed in the cluster first. */
  private Future<CallOutcome> onceOnAnyNode(
      IdempotencyKey idempotencyKey,
      String fingerprint,
      CallRequest request,
      Supplier<Future<CallOutcome>> call) {
    if (entries.containsKey(idempotencyKey)) {
      return once(idempotencyKey, request.caller().share(), fingerprint, call);
    }
    String name =
        Sha256.of(idempotencyKey.caller())
            .end()
            .add(idempotencyKey.route())
            .end()
            .add(idempotencyKey.value())
            .hex();
    return records
        .claim(name, fingerprint, request.server(), request.target(), clock.millis())
        .compose(claim -> runOrRepeat(name, claim, idempotencyKey, request, call));
  }

  private Future<CallOutcome> runOrRepeat(
      String name,
      CallRecords.Claim claim,
      IdempotencyKey idempotencyKey,
      CallRequest request,
      Supplier<Future<CallOutcome>> call) {
    String fingerprint = fingerprint(request);
    if (claim.isGranted()) {
      Future<CallOutcome> running =
          once(idempotencyKey, request.caller().share(), fingerprint, call);
      return settle(name, claim, running, Optional.ofNullable(entries.get(idempotencyKey)));
    }
    return isUnconfirmedClaim(claim, idempotencyKey, fingerprint)
        ? records
            .claimAgain(name, claim)
            .compose(again -> runOrRepeat(name, again, idempotencyKey, request, call))
        : records.complete(name, claim.record()).compose(record -> repeat(record, fingerprint));
  }

  /**
   * Whether this process claimed a name but did not receive the confirmation. Then nothing was
   * executed, and the call may run now.
   */
  private boolean isUnconfirmedClaim(
      CallRecords.Claim claim, IdempotencyKey idempotencyKey, String fingerprint) {
    return records.isOwnAndOpen(claim.record())
        && claim.record().owner().equals(fingerprint)
        && !entries.containsKey(idempotencyKey);
  }

  /**
   * Delays the response until the outcome is stored on the other nodes, or an attempt has timed
   * out. Until it is stored the local entry is not removed, since the key would seem to be free.
   */
  private Future<CallOutcome> settle(
      String name, CallRecords.Claim claim, Future<CallOutcome> running, Optional<Entry> entry) {
    entry.ifPresent(
        own -> {
          own.name = name;
          own.isUnsettled = true;
        });
    return running.transform(
        outcome -> {
          boolean isReleased = outcome.failed() && isHarmless(outcome.cause());
          CallRecords.OutcomeReplication outcomeReplication =
              isReleased
                  ? records.release(name, claim)
                  : records.settle(name, claim, running, RETENTION_MILLIS);
          outcomeReplication
              .stored()
              .onSuccess(done -> entry.ifPresent(own -> own.isUnsettled = false));
          return outcomeReplication.attempted().transform(done -> running);
        });
  }

  private static Future<CallOutcome> repeat(CallRecord stored, String fingerprint) {
    if (!stored.owner().equals(fingerprint)) {
      return Future.failedFuture(mismatch());
    }
    return stored.outcome() == null ? Future.failedFuture(inProgress()) : stored.outcome();
  }

  /**
   * @param share whose quota the key counts against
   */
  Future<CallOutcome> once(
      IdempotencyKey idempotencyKey,
      String share,
      String fingerprint,
      Supplier<Future<CallOutcome>> call) {
    removeExpired();
    Entry existing = entries.get(idempotencyKey);
    if (existing != null) {
      return repeat(existing, fingerprint);
    }
    try {
      shares.acquire(share);
    } catch (BridgeException full) {
      return Future.failedFuture(full);
    }
    Entry entry = new Entry(share, fingerprint, clock.millis());
    entries.put(idempotencyKey, entry);
    Future<CallOutcome> outcome = call.get();
    entry.outcome = outcome;
    return outcome.onComplete(
        done -> keep(idempotencyKey, entry), failure -> release(idempotencyKey, failure));
  }

  private static String fingerprint(CallRequest request) {
    return Sha256.of(request.server().name())
        .end()
        .add(request.target().name())
        .end()
        .add(request.arguments().json())
        .hex();
  }

  private static Future<CallOutcome> repeat(Entry entry, String fingerprint) {
    if (!entry.fingerprint.equals(fingerprint)) {
      return Future.failedFuture(mismatch());
    }
    if (!entry.isDone()) {
      return Future.failedFuture(inProgress());
    }
    return entry.outcome;
  }

  private static BridgeException mismatch() {
    return new BridgeException(
        ErrorCode.IDEMPOTENCY_MISMATCH,
        "The Idempotency-Key was already used for a different request");
  }

  private static BridgeException inProgress() {
    return new BridgeException(
            ErrorCode.IDEMPOTENCY_IN_PROGRESS,
            "The request with this Idempotency-Key is still running")
        .withExecuted(Executed.UNKNOWN)
        .withRetryAfter(1000);
  }

  private void keep(IdempotencyKey idempotencyKey, Entry entry) {
    entry.size = entry.outcome == null ? 0 : size(entry.outcome.result());
    bytes += entry.size;
    if (entry.size >= LARGE) {
      large.computeIfAbsent(entry.share, c -> new Outcomes()).add(entry);
    }
    while (bytes > MAX_BYTES && !large.isEmpty()) {
      dropOldestOfLargestConsumer();
    }
  }

  private void dropOldestOfLargestConsumer() {
    String consumer =
        Collections.max(
                large.entrySet(),
                Map.Entry.comparingByValue(Comparator.comparingLong(own -> own.bytes)))
            .getKey();
    Entry oldest = large.get(consumer).entries.peek();
    dropOutcome(consumer, oldest);
    oldest.outcome = Future.failedFuture(CallRecords.notKept());
  }

  private void dropOutcome(String caller, Entry entry) {
    Outcomes own = large.get(caller);
    if (own != null) {
      own.remove(entry);
      if (own.entries.isEmpty()) {
        large.remove(caller);
      }
    }
    bytes -= entry.size;
    entry.size = 0;
  }

  private void release(IdempotencyKey idempotencyKey, Throwable failure) {
    Entry released = isHarmless(failure) ? entries.remove(idempotencyKey) : null;
    if (released != null) {
      shares.release(released.share);
    }
  }

  private static boolean isHarmless(Throwable failure) {
    return failure instanceof BridgeException cause && cause.executed() == Executed.NO;
  }

  private static int size(CallOutcome outcome) {
    return outcome instanceof CallOutcome.Completed completed ? completed.result().length() : 0;
  }

  private void removeExpired() {
    long expiry = clock.millis() - RETENTION_MILLIS;
    Iterator<Map.Entry<IdempotencyKey, Entry>> oldest = entries.entrySet().iterator();
    while (oldest.hasNext()) {
      Map.Entry<IdempotencyKey, Entry> next = oldest.next();
      Entry entry = next.getValue();
      if (entry.sinceMillis > expiry) {
        return;
      }
      if (entry.isRemovable()) {
        dropOutcome(entry.share, entry);
        shares.release(entry.share);
        oldest.remove();
      }
    }
  }
}
