package dev.mcpbridge.cache;

import dev.mcpbridge.protocol.CacheNote;
import dev.mcpbridge.protocol.CacheNote.Status;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.concurrent.TimeUnit;

/**
 * A result in the cache.
 *
 * @param uri of the resource; null for a tool
 * @param result as it came from the server
 * @param sinceNanos when it came
 */
record KeptResult(String uri, JsonSlice result, long sinceNanos, long ttlNanos) {

  /** The result for a caller who gets it from the cache. */
  JsonSlice hit(long nowNanos) {
    long age = nowNanos - sinceNanos;
    long left = ttlNanos - age;
    JsonSlice shown = uri == null ? result : JsonObjects.with(result, "ttlMs", millis(left));
    return new CacheNote(Status.HIT, seconds(age), seconds(left), null).addTo(shown);
  }

  /** The result for the caller whose call has reached the server just now. */
  JsonSlice miss() {
    return new CacheNote(Status.MISS, 0, seconds(ttlNanos), null).addTo(result);
  }

  /** A client may keep what is read from a resource as long as the bridge does, and no longer. */
  private static JsonSlice millis(long nanos) {
    return JsonSlice.of(Long.toString(TimeUnit.NANOSECONDS.toMillis(nanos)));
  }

  private static long seconds(long nanos) {
    return TimeUnit.NANOSECONDS.toSeconds(nanos);
  }
}
