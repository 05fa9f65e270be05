package dev.mcpbridge.cache;

import dev.mcpbridge.config.CacheConfig;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Timeouts;
import dev.mcpbridge.protocol.CacheNote;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The calls of one server whose results may be kept. A call is answered from the cache, joins one
 * that asks for the same, or goes to the server. Confined to its context.
 */
public final class CachedCalls {
  private final Context context;
  private final CacheConfig config;
  private final Timeouts timeouts;
  private final int maxWaiting;
  private final Function<Call, Future<JsonSlice>> calls;
  private final ResultCache results;
  private final Map<String, SharedCall> running = new HashMap<>();
  private final Map<String, SharedCall> runningById = new HashMap<>();
  private long generation;

  /**
   * @param maxWaiting callers who may wait for one call; the others wait in the queue of the server
   * @param calls sends a call to the server
   */
  public CachedCalls(
      Context context,
      CacheConfig config,
      Timeouts timeouts,
      int maxWaiting,
      Function<Call, Future<JsonSlice>> calls) {
    this.context = context;
    this.config = config;
    this.timeouts = timeouts;
    this.maxWaiting = maxWaiting;
    this.calls = calls;
    this.results = new ResultCache(config, System::nanoTime);
  }

  /** Runs a call. A result says in {@code _meta} whether it is from the cache. */
  public Future<JsonSlice> run(Call call) {
    String wish =
        JsonObjects.string(JsonObjects.members(call.envelope().meta()).get(MetaKeys.CACHE));
    Call sent = call.withEnvelope(call.envelope().withoutMeta(MetaKeys.CACHE));
    if (config.scope(sent.target()) == null) {
      return other(sent);
    }
    String key = results.key(sent);
    if (key == null || "no-store".equals(wish)) {
      return calls.apply(sent);
    }
    JsonSlice found = wish == null ? results.find(key) : null;
    if (found != null) {
      return Future.succeededFuture(found);
    }
    SharedCall shared = wish == null ? running.get(key) : null;
    if (shared == null || shared.waiting() == 0) {
      return begin(key, sent);
    }
    boolean joins = shared.waiting() < maxWaiting && shared.isAsUrgentAs(sent);
    return joins ? shared.join(sent) : calls.apply(sent);
  }

  /** Any other tool may change what the kept results depend on, when it begins or until it ends. */
  private Future<JsonSlice> other(Call call) {
    if (call.target().kind() != Target.Kind.TOOL || !config.clearedByOthers()) {
      return calls.apply(call);
    }
    clear();
    return calls.apply(call).onComplete(done -> clear());
  }

  private Future<JsonSlice> begin(String key, Call call) {
    SharedCall shared = new SharedCall(context, call.id());
    running.put(key, shared);
    runningById.put(call.id(), shared);
    Future<JsonSlice> result = shared.join(call);
    long asOf = generation;
    shared
        .run(calls, timeouts.of(call.target()))
        .onComplete(
            done -> {
              running.remove(key, shared);
              runningById.remove(call.id());
            })
        .onSuccess(
            answer -> {
              if (results.isReusable(call.target(), answer)) {
                shared.end(told(key, call, answer, asOf));
              } else {
                shared.endAlone(answer, calls);
              }
            })
        .onFailure(shared::fail);
    return result;
  }

  /** What each caller is told with the result: the first one that it came from the server. */
  private Function<Call, JsonSlice> told(String key, Call first, JsonSlice answer, long asOf) {
    KeptResult kept = asOf == generation ? results.keep(key, first.target(), answer) : null;
    return call -> {
      if (!call.id().equals(first.id())) {
        long ttl = kept == null ? 0 : TimeUnit.NANOSECONDS.toSeconds(kept.ttlNanos());
        return new CacheNote(CacheNote.Status.COLLAPSED, 0, ttl, first.id()).addTo(answer);
      }
      return kept == null ? answer : kept.miss();
    };
  }

  /** The calls that want to know of an event of a call that was sent to the server. */
  public List<Call> listeners(Call call) {
    SharedCall shared = runningById.get(call.id());
    return shared == null ? List.of(call) : shared.streaming();
  }

  /** Forgets all results, also those that are on their way. */
  public void clear() {
    generation++;
    running.clear();
    results.clear();
  }

  /** Forgets what was read from a resource, also what is on its way. */
  public void clear(String uri) {
    if (config.resources() != null) {
      generation++;
      running.clear();
      results.clear(uri);
    }
  }
}
