package dev.mcpbridge.call;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap.Keep;
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
 * key is taken before the call runs. The outcome is kept for a day and given to whoever repeats the
 * request; a failure that surely had no effect frees the key, since a repetition is what the client
 * wants then. No key is forgotten within its day: where a caller has too many, its next request
 * with another one is refused before it runs. Where outcomes take too much memory, only the fact
 * that the call ran is kept of the oldest.
 */
public final class IdempotencyKeys {
  private static final long KEPT_MILLIS = 24 * 3600 * 1000L;
  private static final Shares.Limit KEYS =
      new Shares.Limit("idempotency keys of a day", "", 100_000, 60_000);

  /** As many as all nodes of a cluster keep together. */
  private static final Shares.Limit KEYS_OF_ALL_NODES =
      new Shares.Limit(KEYS.what(), KEYS.key(), 20_000, KEYS.retryAfterMillis());

  private static final long MAX_BYTES = 64L << 20;

  /** Shorter outcomes are kept whatever happens: those of all keys take as much again at most. */
  private static final int LARGE = 512;

  private final Clock clock;
  private final CallRecords records;
  private final Map<IdempotencyKey, Entry> entries = new LinkedHashMap<>();
  private final Map<String, Outcomes> large = new HashMap<>();
  private final Shares shares;
  private long bytes;

  /**
   * @param route method and path: the same key on another route is another key
   */
  public record IdempotencyKey(String caller, String route, String value) {}

  /** The large outcomes of one caller, the oldest first. */
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

    /** Whether the other nodes have yet to hear how it ended. */
    boolean isOurs;

    int size;

    Entry(String share, String fingerprint, long sinceMillis) {
      this.share = share;
      this.fingerprint = fingerprint;
      this.sinceMillis = sinceMillis;
    }

    boolean isDone() {
      return outcome != null && outcome.isComplete();
    }

    boolean mayBeForgotten() {
      return isDone() && !isOurs;
    }
  }

  /** Keys of this process alone. */
  IdempotencyKeys(Clock clock, BooleanSupplier severalCallers) {
    this.clock = clock;
    this.records = null;
    this.shares = new Shares(KEYS, severalCallers);
  }

  /** Keys of all nodes. */
  public IdempotencyKeys(Clock clock, Cluster cluster, BooleanSupplier severalCallers) {
    this.clock = clock;
    this.shares = new Shares(cluster.isAlone() ? KEYS : KEYS_OF_ALL_NODES, severalCallers);
    this.records = cluster.isAlone() ? null : new CallRecords(cluster, "idempotency", Keep.FIRM);
  }

  /** Runs a request; the same key with another tool or other arguments is refused. */
  public Future<CallOutcome> once(
      IdempotencyKey idempotencyKey, CallRequest request, Supplier<Future<CallOutcome>> call) {
    String fingerprint = fingerprint(request);
    return records == null
        ? once(idempotencyKey, request.caller().share(), fingerprint, call)
        : onceOnAnyNode(idempotencyKey, fingerprint, request, call);
  }

  /** What this node runs it knows itself; what it does not know it asks for first. */
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
        .compose(claim -> claimed(name, claim, idempotencyKey, request, call));
  }

  private Future<CallOutcome> claimed(
      String name,
      CallRecords.Claim claim,
      IdempotencyKey idempotencyKey,
      CallRequest request,
      Supplier<Future<CallOutcome>> call) {
    String fingerprint = fingerprint(request);
    if (claim.isTaken()) {
      Future<CallOutcome> running =
          once(idempotencyKey, request.caller().share(), fingerprint, call);
      return kept(name, claim, running, Optional.ofNullable(entries.get(idempotencyKey)));
    }
    return isLeftOver(claim, idempotencyKey, fingerprint)
        ? records
            .claimAgain(name, claim)
            .compose(again -> claimed(name, again, idempotencyKey, request, call))
        : repeat(claim.record(), fingerprint);
  }

  /**
   * Whether a name was taken by this process, which never learned of it: nothing has run then, and
   * may run now.
   */
  private boolean isLeftOver(
      CallRecords.Claim claim, IdempotencyKey idempotencyKey, String fingerprint) {
    return records.isOwnAndOpen(claim.record())
        && claim.record().owner().equals(fingerprint)
        && !entries.containsKey(idempotencyKey);
  }

  /**
   * The answer leaves when the other nodes know it, too, or could not agree in time. What only this
   * node knows is not forgotten until they do: the key would seem to be free.
   */
  private Future<CallOutcome> kept(
      String name, CallRecords.Claim claim, Future<CallOutcome> running, Optional<Entry> entry) {
    entry.ifPresent(own -> own.isOurs = true);
    return running.transform(
        outcome -> {
          boolean isFree = outcome.failed() && isHarmless(outcome.cause());
          CallRecords.EndNotice endNotice =
              isFree
                  ? records.release(name, claim)
                  : records.settle(name, claim, running, KEPT_MILLIS);
          endNotice.known().onSuccess(done -> entry.ifPresent(own -> own.isOurs = false));
          return endNotice.tried().transform(done -> running);
        });
  }

  private static Future<CallOutcome> repeat(CallRecord known, String fingerprint) {
    if (!known.owner().equals(fingerprint)) {
      return Future.failedFuture(mismatch());
    }
    return known.outcome() == null ? Future.failedFuture(inProgress()) : known.outcome();
  }

  /**
   * @param share whose share of the keys it takes
   */
  Future<CallOutcome> once(
      IdempotencyKey idempotencyKey,
      String share,
      String fingerprint,
      Supplier<Future<CallOutcome>> call) {
    forgetOld();
    Entry known = entries.get(idempotencyKey);
    if (known != null) {
      return repeat(known, fingerprint);
    }
    try {
      shares.take(share);
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

  private static Future<CallOutcome> repeat(Entry known, String fingerprint) {
    if (!known.fingerprint.equals(fingerprint)) {
      return Future.failedFuture(mismatch());
    }
    if (!known.isDone()) {
      return Future.failedFuture(inProgress());
    }
    return known.outcome;
  }

  private static BridgeException mismatch() {
    return new BridgeException(
        ErrorCode.IDEMPOTENCY_MISMATCH, "The Idempotency-Key was used before with another body");
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
      dropOutcomeOfTheGreediest();
    }
  }

  private void dropOutcomeOfTheGreediest() {
    String greediest =
        Collections.max(
                large.entrySet(),
                Map.Entry.comparingByValue(Comparator.comparingLong(own -> own.bytes)))
            .getKey();
    Entry oldest = large.get(greediest).entries.peek();
    forgetOutcome(greediest, oldest);
    oldest.outcome = Future.failedFuture(CallRecords.notKept());
  }

  private void forgetOutcome(String caller, Entry entry) {
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
    Entry free = isHarmless(failure) ? entries.remove(idempotencyKey) : null;
    if (free != null) {
      shares.release(free.share);
    }
  }

  private static boolean isHarmless(Throwable failure) {
    return failure instanceof BridgeException known && known.executed() == Executed.NO;
  }

  private static int size(CallOutcome outcome) {
    return outcome instanceof CallOutcome.Completed completed ? completed.result().length() : 0;
  }

  private void forgetOld() {
    long horizon = clock.millis() - KEPT_MILLIS;
    Iterator<Map.Entry<IdempotencyKey, Entry>> oldest = entries.entrySet().iterator();
    while (oldest.hasNext()) {
      Map.Entry<IdempotencyKey, Entry> next = oldest.next();
      Entry entry = next.getValue();
      if (entry.sinceMillis > horizon) {
        return;
      }
      if (entry.mayBeForgotten()) {
        forgetOutcome(entry.share, entry);
        shares.release(entry.share);
        oldest.remove();
      }
    }
  }
}
