package dev.mcpbridge.session;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.MetaKeys;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Collects a list over all its pages (server/utilities/pagination). A cursor is opaque, an empty
 * string is one; a cursor that comes again would never end and is refused, and so is a list that is
 * not whole at its deadline.
 */
public final class Pages {
  private static final int MAX_ENTRIES = 50_000;
  private static final int MAX_PAGES = 10_000;

  private final Session session;
  private final String method;
  private final String member;
  private final long deadlineNanos;
  private final Promise<Listed> whole = Promise.promise();
  private final List<JsonSlice> entries = new ArrayList<>();
  private final Set<JsonSlice> cursors = new HashSet<>();
  private String bridge;
  private JsonSlice omitted;

  private Pages(Session session, String method, String member, long deadlineNanos) {
    this.session = session;
    this.method = method;
    this.member = member;
    this.deadlineNanos = deadlineNanos;
  }

  /**
   * A list, whole.
   *
   * @param bridge which bridge answered, where it was one and said so; else null
   * @param omitted what the list leaves out, as it was said; null where it was not
   */
  public record Listed(List<JsonSlice> entries, String bridge, JsonSlice omitted) {}

  /**
   * @param member the array's name in the result, {@code tools} for example
   * @param deadlineNanos of the whole list, on {@link System#nanoTime()}'s clock
   */
  public static Future<Listed> all(
      Session session, String method, String member, long deadlineNanos) {
    Pages pages = new Pages(session, method, member, deadlineNanos);
    pages.ask(JsonSlice.EMPTY_OBJECT);
    return pages.whole.future();
  }

  /** One page after the other, none within the future of another: there may be thousands. */
  private void ask(JsonSlice params) {
    long leftMillis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
    if (leftMillis <= 0) {
      whole.fail(
          new BridgeException(
              ErrorCode.DEADLINE_EXCEEDED,
              method + " was not over after " + cursors.size() + " pages"));
      return;
    }
    session.request(method, params, leftMillis).onComplete(this::take, whole::tryFail);
  }

  private void take(JsonSlice result) {
    try {
      JsonSlice cursor = add(JsonObjects.members(result));
      if (cursor == null) {
        whole.complete(new Listed(entries, bridge, omitted));
      } else {
        ask(new JsonWriter().beginObject().member("cursor", cursor).endObject().toSlice());
      }
    } catch (RuntimeException e) {
      whole.tryFail(e);
    }
  }

  /** Returns the cursor of the next page; null after the last one. */
  private JsonSlice add(Map<String, JsonSlice> page) {
    JsonSlice list = page.get(member);
    if (list == null || !list.isArray()) {
      throw broken(method + " was answered without " + member);
    }
    JsonSlice meta = page.get("_meta");
    bridge = Negotiated.bridge(meta);
    omitted =
        meta == null || !meta.isObject() ? null : JsonObjects.members(meta).get(MetaKeys.OMITTED);
    entries.addAll(JsonObjects.elements(list));
    JsonSlice cursor = page.get("nextCursor");
    if (cursor == null || cursor.equals(JsonSlice.NULL)) {
      return null;
    }
    if (!cursors.add(cursor.detached())) {
      throw broken(method + " repeats its cursor");
    }
    if (cursors.size() > MAX_PAGES) {
      throw broken(method + " has over " + MAX_PAGES + " pages");
    }
    if (entries.size() > MAX_ENTRIES) {
      throw broken(method + " has over " + MAX_ENTRIES + " entries");
    }
    return cursor;
  }

  private static BridgeException broken(String detail) {
    return new BridgeException(ErrorCode.UPSTREAM_PROTOCOL_ERROR, detail);
  }
}
