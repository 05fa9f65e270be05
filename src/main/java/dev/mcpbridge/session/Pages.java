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
 * Reads all pages of a list (server/utilities/pagination). A cursor is opaque and may be an empty
 * string. The list fails if a cursor is repeated, which would never end, or if it is incomplete at
 * its deadline.
 */
public final class Pages {
  private static final int MAX_ENTRIES = 50_000;
  private static final int MAX_PAGES = 10_000;

  private final Session session;
  private final String method;
  private final String member;
  private final long deadlineNanos;
  private final Promise<CompleteList> promise = Promise.promise();
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
   * A complete list.
   *
   * @param bridge id of the bridge that responded, if the server declared one; otherwise null
   * @param omitted what the list leaves out, as declared by the server; null if not declared
   */
  public record CompleteList(List<JsonSlice> entries, String bridge, JsonSlice omitted) {}

  /**
   * Reads a list.
   *
   * @param member name of the array in the result, for example {@code tools}
   * @param deadlineNanos deadline of the whole list, on the clock of {@link System#nanoTime()}
   */
  public static Future<CompleteList> all(
      Session session, String method, String member, long deadlineNanos) {
    Pages pages = new Pages(session, method, member, deadlineNanos);
    pages.request(JsonSlice.EMPTY_OBJECT);
    return pages.promise.future();
  }

  /** Requests pages one by one, without chaining their futures: there may be thousands. */
  private void request(JsonSlice params) {
    long remainingMillis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
    if (remainingMillis <= 0) {
      promise.fail(
          new BridgeException(
              ErrorCode.DEADLINE_EXCEEDED,
              method + " was incomplete after " + cursors.size() + " pages at its deadline"));
      return;
    }
    session.request(method, params, remainingMillis).onComplete(this::onPage, promise::tryFail);
  }

  private void onPage(JsonSlice result) {
    try {
      JsonSlice cursor = add(JsonObjects.members(result));
      if (cursor == null) {
        promise.complete(new CompleteList(entries, bridge, omitted));
      } else {
        request(new JsonWriter().beginObject().member("cursor", cursor).endObject().toSlice());
      }
    } catch (RuntimeException e) {
      promise.tryFail(e);
    }
  }

  /** Adds a page; returns the cursor of the next page, or null after the last one. */
  private JsonSlice add(Map<String, JsonSlice> page) {
    JsonSlice list = page.get(member);
    if (list == null || !list.isArray()) {
      throw protocolError("The result of " + method + " has no array '" + member + "'");
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
      throw protocolError("The server repeats a cursor of " + method);
    }
    if (cursors.size() > MAX_PAGES) {
      throw protocolError(method + " has more than " + MAX_PAGES + " pages");
    }
    if (entries.size() > MAX_ENTRIES) {
      throw protocolError(method + " has more than " + MAX_ENTRIES + " entries");
    }
    return cursor;
  }

  private static BridgeException protocolError(String detail) {
    return new BridgeException(ErrorCode.UPSTREAM_PROTOCOL_ERROR, detail);
  }
}
