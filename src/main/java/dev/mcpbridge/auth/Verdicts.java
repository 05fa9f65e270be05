package dev.mcpbridge.auth;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.Principal;
import io.vertx.core.Future;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What is known about tokens, by the digest of the token: that of a signature for a minute, that of
 * an issuer for 30 seconds, a refusal by an issuer for 5 seconds; and never longer than the token
 * is valid. Confined to the event loop.
 */
final class Verdicts {
  private static final int MAX_VERDICTS = 10_000;
  private static final long SIGNED_MILLIS = TimeUnit.SECONDS.toMillis(60);
  private static final long INTROSPECTED_MILLIS = TimeUnit.SECONDS.toMillis(30);
  private static final long REFUSED_MILLIS = TimeUnit.SECONDS.toMillis(5);

  private final Map<String, Verdict> verdicts = new BoundedMap<>(MAX_VERDICTS);
  private final LongSupplier clock;

  /**
   * @param until by the clock
   */
  private record Verdict(Future<Identity> identity, long until) {}

  /**
   * @param clock milliseconds of the wall clock
   */
  Verdicts(LongSupplier clock) {
    this.clock = clock;
  }

  /** The identity that a token proves, or why it was refused; null if it has to be checked. */
  Future<Identity> of(String digest) {
    Verdict known = verdicts.get(digest);
    return known != null && clock.getAsLong() < known.until() ? known.identity() : null;
  }

  /** Keeps the identity of a token with a valid signature. */
  void ofSignature(String digest, Identity identity) {
    keep(digest, identity, SIGNED_MILLIS);
  }

  /**
   * Keeps what an issuer has said about a token.
   *
   * @param answer complete; not kept if the issuer could not be asked
   */
  void ofIssuer(String digest, Future<Identity> answer) {
    if (answer.succeeded()) {
      keep(digest, answer.result(), INTROSPECTED_MILLIS);
    } else if (answer.cause() instanceof BridgeException known
        && known.code() == ErrorCode.UNAUTHENTICATED) {
      verdicts.put(digest, new Verdict(answer, clock.getAsLong() + REFUSED_MILLIS));
    }
  }

  private void keep(String digest, Identity identity, long millis) {
    long until = clock.getAsLong() + millis;
    Principal.Token token = identity.principal().token();
    verdicts.put(
        digest,
        new Verdict(
            Future.succeededFuture(identity),
            token == null ? until : Math.min(until, token.expiresMillis())));
  }

  /** Forgets all, because an issuer has other keys. */
  void clear() {
    verdicts.clear();
  }
}
