package dev.mcpbridge.session;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Collects a list over all its pages (server/utilities/pagination). A cursor is opaque, an empty
 * string is one; a cursor that comes again would never end and is refused.
 */
public final class Pages {
  private static final int MAX_ENTRIES = 50_000;

  private final Session session;
  private final String method;
  private final String member;
  private final long timeoutMillis;
  private final List<JsonSlice> entries = new ArrayList<>();
  private String bridge;
  private final Set<JsonSlice> seen = new HashSet<>();

  private Pages(Session session, String method, String member, long timeoutMillis) {
    this.session = session;
    this.method = method;
    this.member = member;
    this.timeoutMillis = timeoutMillis;
  }

  /**
   * A list, whole.
   *
   * @param bridge which bridge answered, where it was one and said so; else null
   */
  public record Listed(List<JsonSlice> entries, String bridge) {}

  /**
   * @param member the array's name in the result, {@code tools} for example
   * @param timeoutMillis for each page
   */
  public static Future<Listed> all(
      Session session, String method, String member, long timeoutMillis) {
    return new Pages(session, method, member, timeoutMillis).from(JsonSlice.EMPTY_OBJECT);
  }

  private Future<Listed> from(JsonSlice params) {
    return session.request(method, params, timeoutMillis).compose(this::take);
  }

  private Future<Listed> take(JsonSlice result) {
    Map<String, JsonSlice> page = JsonObjects.members(result);
    JsonSlice list = page.get(member);
    if (list == null || !list.isArray()) {
      return Future.failedFuture(broken(method + " was answered without " + member));
    }
    bridge = Negotiated.bridge(page.get("_meta"));
    entries.addAll(JsonObjects.elements(list));
    JsonSlice cursor = page.get("nextCursor");
    if (cursor == null || cursor.equals(JsonSlice.NULL)) {
      return Future.succeededFuture(new Listed(entries, bridge));
    }
    if (!seen.add(cursor.detached())) {
      return Future.failedFuture(broken(method + " repeats its cursor"));
    }
    if (entries.size() > MAX_ENTRIES) {
      return Future.failedFuture(broken(method + " has over " + MAX_ENTRIES + " entries"));
    }
    return from(new JsonWriter().beginObject().member("cursor", cursor).endObject().toSlice());
  }

  private static BridgeException broken(String detail) {
    return new BridgeException(ErrorCode.UPSTREAM_PROTOCOL_ERROR, detail);
  }
}
