package dev.mcpbridge.call;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Runs a request at most once for each key (IETF draft-ietf-httpapi-idempotency-key-header-07). The
 * key is taken before the call runs. The outcome is kept for a day and given to whoever repeats the
 * request; a failure that surely had no effect frees the key, since a repetition is what the client
 * wants then. Bounded: the oldest outcomes are forgotten first, those under way never.
 */
public final class IdempotencyKeys {
  private static final long KEPT_MILLIS = 24 * 3600 * 1000L;
  private static final int MAX_KEYS = 20_000;
  private static final long MAX_BYTES = 64L << 20;

  private final Clock clock;
  private final CallRecords records;
  private final Map<Key, Entry> entries = new LinkedHashMap<>();
  private long bytes;

  /**
   * @param route method and path: the same key on another route is another key
   */
  public record Key(String caller, String route, String value) {}

  private static final class Entry {
    final String fingerprint;
    final long sinceMillis;
    Future<CallOutcome> outcome;

    /** Whether the other nodes have yet to hear how it ended. */
    boolean isOurs;

    int size;

    Entry(String fingerprint, long sinceMillis) {
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
  IdempotencyKeys(Clock clock) {
    this.clock = clock;
    this.records = null;
  }

  /** Keys of all nodes. */
  public IdempotencyKeys(Clock clock, Cluster cluster) {
    this.clock = clock;
    this.records = cluster.isAlone() ? null : new CallRecords(cluster, "idempotency");
  }

  /** Runs a request; the same key with another tool or other arguments is refused. */
  public Future<CallOutcome> once(
      Key key, CallRequest request, Supplier<Future<CallOutcome>> call) {
    String fingerprint = fingerprint(request);
    return records == null
        ? once(key, fingerprint, call)
        : onceOnAnyNode(key, fingerprint, request, call);
  }

  /** What this node runs it knows itself; what it does not know it asks for first. */
  private Future<CallOutcome> onceOnAnyNode(
      Key key, String fingerprint, CallRequest request, Supplier<Future<CallOutcome>> call) {
    if (entries.containsKey(key)) {
      return once(key, fingerprint, call);
    }
    String name = Sha256.of(key.caller()).end().add(key.route()).end().add(key.value()).hex();
    return records
        .claim(name, fingerprint, request.server(), request.target(), clock.millis())
        .compose(claim -> claimed(name, claim, key, fingerprint, call));
  }

  private Future<CallOutcome> claimed(
      String name,
      CallRecords.Claim claim,
      Key key,
      String fingerprint,
      Supplier<Future<CallOutcome>> call) {
    if (claim.isTaken()) {
      Future<CallOutcome> running = once(key, fingerprint, call);
      return kept(name, claim, running, Optional.ofNullable(entries.get(key)));
    }
    return isLeftOver(claim, key, fingerprint)
        ? records
            .claimAgain(name, claim)
            .compose(again -> claimed(name, again, key, fingerprint, call))
        : repeat(claim.record(), fingerprint);
  }

  /**
   * Whether a name was taken by this process, which never learned of it: nothing has run then, and
   * may run now.
   */
  private boolean isLeftOver(CallRecords.Claim claim, Key key, String fingerprint) {
    return records.isOwnAndOpen(claim.record())
        && claim.record().owner().equals(fingerprint)
        && !entries.containsKey(key);
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
          CallRecords.Word word =
              isFree
                  ? records.release(name, claim)
                  : records.settle(name, claim, running, KEPT_MILLIS);
          word.known().onSuccess(done -> entry.ifPresent(own -> own.isOurs = false));
          return word.tried().transform(done -> running);
        });
  }

  private static Future<CallOutcome> repeat(CallRecord known, String fingerprint) {
    if (!known.owner().equals(fingerprint)) {
      return Future.failedFuture(mismatch());
    }
    return known.outcome() == null ? Future.failedFuture(inProgress()) : known.outcome();
  }

  Future<CallOutcome> once(Key key, String fingerprint, Supplier<Future<CallOutcome>> call) {
    forgetOld();
    Entry known = entries.get(key);
    if (known != null) {
      return repeat(known, fingerprint);
    }
    if (entries.size() >= MAX_KEYS) {
      return Future.failedFuture(
          new BridgeException(ErrorCode.OVERLOADED, "Too many idempotency keys are in use")
              .withRetryAfter(1000));
    }
    Entry entry = new Entry(fingerprint, clock.millis());
    entries.put(key, entry);
    entry.outcome = call.get().onComplete(done -> keep(entry), failure -> release(key, failure));
    return entry.outcome;
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

  private void keep(Entry entry) {
    entry.size = entry.outcome == null ? 0 : size(entry.outcome.result());
    bytes += entry.size;
  }

  private void release(Key key, Throwable failure) {
    if (isHarmless(failure)) {
      entries.remove(key);
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
    Iterator<Entry> oldest = entries.values().iterator();
    boolean crowded = entries.size() >= MAX_KEYS || bytes > MAX_BYTES;
    while (oldest.hasNext()) {
      Entry entry = oldest.next();
      if (entry.sinceMillis > horizon && !crowded) {
        return;
      }
      if (entry.mayBeForgotten()) {
        bytes -= entry.size;
        oldest.remove();
        crowded = entries.size() >= MAX_KEYS || bytes > MAX_BYTES;
      }
    }
  }
}
