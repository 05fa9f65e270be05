package dev.mcpbridge.auth;

import com.nimbusds.jose.jwk.JWKSet;
import io.vertx.core.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The signature keys of an issuer: a snapshot that is replaced as a whole, so that a withdrawn key
 * is gone. It is fetched again before it expires, and when a token names an unknown key; but not
 * more often than every 30 seconds, however many unknown keys are named. If the issuer cannot be
 * reached, the last snapshot is used for a while. Confined to the event loop.
 */
final class IssuerKeys {
  private static final long MIN_LIFETIME_MILLIS = TimeUnit.MINUTES.toMillis(5);
  private static final long MAX_LIFETIME_MILLIS = TimeUnit.HOURS.toMillis(24);
  private static final long MIN_INTERVAL_MILLIS = TimeUnit.SECONDS.toMillis(30);

  /** The interval while there are no keys at all. */
  private static final long FIRST_INTERVAL_MILLIS = TimeUnit.SECONDS.toMillis(2);

  private final Supplier<Future<Fetched>> source;
  private final long staleMillis;
  private final LongSupplier clock;
  private final Runnable onChange;
  private Snapshot snapshot;
  private Future<Snapshot> fetch;
  private long fetchedMillis = Long.MIN_VALUE / 2;

  /** Whether the last fetch failed. */
  private boolean isFailing;

  /**
   * What the issuer has published.
   *
   * @param lifetimeMillis as the issuer said
   */
  record Fetched(JWKSet keys, long lifetimeMillis) {}

  private record Snapshot(JWKSet keys, long refreshMillis, long uselessMillis) {
    boolean has(String keyId) {
      return keyId == null || keys.getKeyByKeyId(keyId) != null;
    }
  }

  /**
   * @param source fetches the keys; fails if the issuer cannot be reached
   * @param staleMillis how long expired keys are used
   * @param clock monotonic, in milliseconds
   * @param onChange called when other keys were fetched
   */
  IssuerKeys(
      Supplier<Future<Fetched>> source, long staleMillis, LongSupplier clock, Runnable onChange) {
    this.source = source;
    this.staleMillis = staleMillis;
    this.clock = clock;
    this.onChange = onChange;
  }

  /**
   * The keys with which to verify a token.
   *
   * @param keyId the key that the token names; null if it names none
   * @return fails if the issuer cannot be reached and there are no keys that could be used
   */
  Future<JWKSet> with(String keyId) {
    long now = clock.getAsLong();
    boolean isUsable = snapshot != null && now < snapshot.uselessMillis();
    if (isUsable && snapshot.has(keyId)) {
      if (now >= snapshot.refreshMillis() && now - fetchedMillis >= MIN_INTERVAL_MILLIS) {
        fetch(now);
      }
      return Future.succeededFuture(snapshot.keys());
    }
    if (fetch != null) {
      return fetch.map(Snapshot::keys);
    }
    long interval = isUsable ? MIN_INTERVAL_MILLIS : FIRST_INTERVAL_MILLIS;
    if (now - fetchedMillis >= interval) {
      return fetch(now).map(Snapshot::keys);
    }
    return isUsable && !isFailing
        ? Future.succeededFuture(snapshot.keys())
        : Future.failedFuture("the issuer could not be reached");
  }

  /**
   * Newer keys, for a token that names no key. Fails without newer ones, or if they were fetched in
   * the last thirty seconds.
   */
  Future<JWKSet> newerThan(JWKSet known) {
    long now = clock.getAsLong();
    Future<Snapshot> fetching =
        fetch != null || now - fetchedMillis < MIN_INTERVAL_MILLIS ? fetch : fetch(now);
    return (fetching == null ? Future.succeededFuture(snapshot) : fetching)
        .compose(
            newest ->
                newest.keys().equals(known)
                    ? Future.failedFuture("there are no newer keys")
                    : Future.succeededFuture(newest.keys()));
  }

  private Future<Snapshot> fetch(long now) {
    fetchedMillis = now;
    Future<Snapshot> fetching = source.get().map(fetched -> replace(fetched, clock.getAsLong()));
    fetch = fetching;
    fetching.onComplete(
        over -> {
          fetch = null;
          isFailing = over.failed();
        });
    return fetching;
  }

  private Snapshot replace(Fetched fetched, long now) {
    long lifetime =
        Math.max(MIN_LIFETIME_MILLIS, Math.min(MAX_LIFETIME_MILLIS, fetched.lifetimeMillis()));
    boolean isOther = snapshot == null || !snapshot.keys().equals(fetched.keys());
    snapshot = new Snapshot(fetched.keys(), now + lifetime * 4 / 5, now + lifetime + staleMillis);
    if (isOther) {
      onChange.run();
    }
    return snapshot;
  }
}
