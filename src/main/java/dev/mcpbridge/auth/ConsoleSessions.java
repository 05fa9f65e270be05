package dev.mcpbridge.auth;

import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Sessions of the console: tokens that a browser has in place of an API key. A session has the
 * rights of its key, ends with it, after 30 minutes without a request, and after 8 hours. Only the
 * digests of tokens are stored, where all nodes know them. Confined to the event loop.
 */
public final class ConsoleSessions {
  private static final String PREFIX = "mcbs_";
  private static final long IDLE_MILLIS = TimeUnit.MINUTES.toMillis(30);
  private static final long RENEWAL_MILLIS = TimeUnit.MINUTES.toMillis(5);
  private static final long LIFETIME_MILLIS = TimeUnit.HOURS.toMillis(8);
  private static final int MAX_OF_KEY = 20;
  private static final int DIGEST_BYTES = 32;

  private final SharedMap sessions;
  private final LongSupplier clock;

  /**
   * @param sessions by the digest of their token
   * @param clock milliseconds of the wall clock
   */
  public ConsoleSessions(SharedMap sessions, LongSupplier clock) {
    this.sessions = sessions;
    this.clock = clock;
  }

  /** Whether a credential has the form of a session's token. */
  public static boolean isLike(String credential) {
    return credential.startsWith(PREFIX);
  }

  /**
   * Opens a session.
   *
   * @param key SHA-256 of the API key
   * @return its token; fails with OVERLOADED if there is no room
   */
  public Future<String> open(byte[] key) {
    String token = PREFIX + Pkce.random();
    byte[] value =
        ByteBuffer.allocate(DIGEST_BYTES + Long.BYTES)
            .put(key)
            .putLong(clock.getAsLong() + LIFETIME_MILLIS)
            .array();
    closeOldest(key);
    return sessions
        .put(name(token), SharedMap.ABSENT, value, IDLE_MILLIS, Eviction.NEVER)
        .compose(
            change ->
                change.isDone()
                    ? Future.succeededFuture(token)
                    : Future.failedFuture(
                        new BridgeException(ErrorCode.OVERLOADED, "Too many sessions are open")));
  }

  /** One key cannot fill the store. */
  private void closeOldest(byte[] key) {
    List<Map.Entry<String, Item>> own =
        sessions.cached().entrySet().stream()
            .filter(session -> Arrays.equals(keyOf(session.getValue()), key))
            .sorted(Comparator.comparingLong(session -> endOf(session.getValue())))
            .toList();
    own.stream()
        .limit(Math.max(0, own.size() - MAX_OF_KEY + 1))
        .forEach(session -> sessions.remove(session.getKey(), session.getValue().version()));
  }

  /** Closes the session of a token, if there is one. */
  public Future<Void> close(String token) {
    return sessions.remove(name(token));
  }

  /** The SHA-256 of the key of a session that this node knows; empty if it knows none. */
  Optional<byte[]> known(String token) {
    return valid(name(token), sessions.cached(name(token)));
  }

  /** The SHA-256 of the key of a session; asks the other nodes. */
  Future<Optional<byte[]>> find(String token) {
    return sessions.get(name(token)).map(item -> valid(name(token), item));
  }

  /** Whether the session of a token is open; to ask does not count as a use. */
  public Future<Boolean> isOpen(String token) {
    return sessions.get(name(token)).map(this::isOpen);
  }

  private boolean isOpen(Item item) {
    return item.isPresent()
        && endOf(item) > clock.getAsLong()
        && item.untilMillis() > item.millis();
  }

  /** A session that is used lives on, until its end. */
  private Optional<byte[]> valid(String name, Item item) {
    if (!isOpen(item)) {
      return Optional.empty();
    }
    long left = endOf(item) - clock.getAsLong();
    if (item.untilMillis() - item.millis() < Math.min(left, IDLE_MILLIS) - RENEWAL_MILLIS) {
      sessions.put(name, item.version(), item.value(), Math.min(left, IDLE_MILLIS), Eviction.NEVER);
    }
    return Optional.of(keyOf(item));
  }

  private static byte[] keyOf(Item item) {
    return Arrays.copyOf(item.value(), DIGEST_BYTES);
  }

  private static long endOf(Item item) {
    return ByteBuffer.wrap(item.value()).getLong(DIGEST_BYTES);
  }

  private static String name(String token) {
    return Sha256.of(token).hex();
  }
}
