package dev.mcpbridge.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import dev.mcpbridge.config.CacheConfig;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import dev.mcpbridge.protocol.ToolResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;

/** The kept results of one server, bounded in bytes and time. Confined to its context. */
final class ResultCache {
  private static final int MAX_RESULT = 256 << 10;
  private static final int KEY_BYTES = 200;
  private static final long MAX_TTL_MILLIS = Duration.ofDays(1).toMillis();
  private static final byte[] META = "\"_meta\"".getBytes(StandardCharsets.US_ASCII);

  private final CacheConfig config;
  private final LongSupplier clock;
  private final Cache<String, KeptResult> kept;

  /**
   * @param clock monotonic, in nanoseconds
   */
  ResultCache(CacheConfig config, LongSupplier clock) {
    this.config = config;
    this.clock = clock;
    this.kept =
        Caffeine.newBuilder()
            .maximumWeight(config.maxBytes())
            .<String, KeptResult>weigher((key, result) -> KEY_BYTES + result.result().length())
            .expireAfter(
                Expiry.<String, KeptResult>creating(
                    (key, result) -> Duration.ofNanos(result.ttlNanos())))
            .ticker(clock::getAsLong)
            .executor(Runnable::run)
            .build();
  }

  /**
   * What makes two calls the same: target, arguments and everything else that their server sees,
   * and in the scope of a caller who calls with which credential. Null if the result is not kept,
   * or depends on a credential that only its caller has.
   */
  String key(Call call) {
    CacheConfig.Scope scope = config.scope(call.target());
    boolean hasCredential = call.caller().authorization() != null;
    if (scope == null || scope == CacheConfig.Scope.SHARED && hasCredential) {
      return null;
    }
    Sha256 key =
        Sha256.of(call.target().kind().name())
            .end()
            .add(call.target().name())
            .end()
            .add(call.arguments())
            .end()
            .add(call.envelope().extras())
            .end()
            .add(call.envelope().reviewedMeta())
            .end();
    if (scope == CacheConfig.Scope.CALLER) {
      key.add(call.caller().name()).end();
      key.add(hasCredential ? call.caller().authorization() : "").end();
    }
    return key.hex();
  }

  /** Null if there is no fresh result. */
  JsonSlice find(String key) {
    KeptResult found = kept.getIfPresent(key);
    return found == null ? null : found.hit(clock.getAsLong());
  }

  /**
   * Keeps a result.
   *
   * @return null if it is not one to keep
   */
  KeptResult keep(String key, Target target, JsonSlice result) {
    if (result.length() > MAX_RESULT || !isReusable(target, result)) {
      return null;
    }
    long ttlMillis = target.kind() == Target.Kind.TOOL ? ttl(target, result) : ttl(result);
    if (ttlMillis <= 0) {
      return null;
    }
    String uri = target.kind() == Target.Kind.RESOURCE ? target.name() : null;
    long ttlNanos = Duration.ofMillis(Math.min(ttlMillis, MAX_TTL_MILLIS)).toNanos();
    KeptResult keptResult = new KeptResult(uri, result.detached(), clock.getAsLong(), ttlNanos);
    kept.put(key, keptResult);
    return keptResult;
  }

  /**
   * Whether a result may answer more calls of its scope than the one for which it was made. A
   * question to the client, or what a server says in {@code _meta}, such as the confirmation that
   * another bridge requires, may not; nor may what its server marks as private, if the calls are
   * those of several callers (MCP 2026-07-28 server/utilities/caching).
   */
  boolean isReusable(Target target, JsonSlice result) {
    if (result.mentions(META)) {
      return false;
    }
    Map<String, JsonSlice> members = JsonObjects.members(result);
    boolean isPrivate = "private".equals(JsonObjects.string(members.get("cacheScope")));
    return !isUnfinished(members)
        && !(isPrivate && config.scope(target) == CacheConfig.Scope.SHARED);
  }

  private long ttl(Target tool, JsonSlice result) {
    return ToolResult.isError(result) ? 0 : config.ttlMillis(tool);
  }

  /** What the server allows (MCP 2026-07-28 server/utilities/caching). */
  private static long ttl(JsonSlice result) {
    JsonSlice ttl = JsonObjects.members(result).get("ttlMs");
    boolean isNumber = ttl != null && ttl.text().matches("\\d{1,15}");
    return isNumber ? Long.parseLong(ttl.text()) : 0;
  }

  private static boolean isUnfinished(Map<String, JsonSlice> members) {
    String type = JsonObjects.string(members.get("resultType"));
    return type != null && !type.equals("complete");
  }

  void clear() {
    kept.invalidateAll();
  }

  /** Removes what was read from a resource. */
  void clear(String uri) {
    kept.asMap().values().removeIf(result -> uri.equals(result.uri()));
  }
}
