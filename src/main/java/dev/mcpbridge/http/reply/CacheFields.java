package dev.mcpbridge.http.reply;

import dev.mcpbridge.protocol.CacheNote;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.util.Locale;

/** The header fields about the cache of results (RFC 9111, RFC 9211). Stateless. */
public final class CacheFields {
  private static final JsonSlice NO_CACHE = JsonSlice.of("\"no-cache\"");
  private static final JsonSlice NO_STORE = JsonSlice.of("\"no-store\"");

  private CacheFields() {}

  /** The envelope of a call whose client may not want a result from the cache. */
  public static Envelope asked(RoutingContext ctx, Envelope envelope) {
    String field = ctx.request().getHeader(HttpHeaders.CACHE_CONTROL);
    if (field == null) {
      return envelope;
    }
    String directives = field.toLowerCase(Locale.ROOT);
    if (directives.contains("no-store")) {
      return envelope.withMeta(MetaKeys.CACHE, NO_STORE);
    }
    return directives.contains("no-cache") ? envelope.withMeta(MetaKeys.CACHE, NO_CACHE) : envelope;
  }

  /**
   * Tells where a result is from. No other cache may keep it.
   *
   * @param note null if it says nothing
   */
  public static void tell(RoutingContext ctx, CacheNote note) {
    if (note == null) {
      return;
    }
    String status =
        switch (note.status()) {
          case HIT -> "hit; ttl=" + note.ttlSeconds();
          case MISS -> "fwd=miss; stored; ttl=" + note.ttlSeconds();
          case COLLAPSED -> "fwd=miss; collapsed";
        };
    ctx.response()
        .putHeader("cache-status", "mcp-bridge; " + status)
        .putHeader(HttpHeaders.CACHE_CONTROL, "no-store");
    if (note.status() == CacheNote.Status.HIT) {
      ctx.response().putHeader(HttpHeaders.AGE, Long.toString(note.ageSeconds()));
    }
  }
}
