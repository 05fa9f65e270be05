package dev.mcpbridge.adapter;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.Map;

/**
 * The operations of a service that are not offered, as {@link Backend#omitted} has them. Stateless.
 */
public final class Omissions {
  private static final int MAX = 200;
  private static final int MAX_TEXT = 300;

  private Omissions() {}

  /**
   * The first omitted operations and their total count as JSON; null without omissions.
   *
   * @param reasons by operation
   */
  public static JsonSlice of(Map<String, String> reasons) {
    if (reasons.isEmpty()) {
      return null;
    }
    JsonWriter out = new JsonWriter(1024).beginObject().member("count", reasons.size());
    out.name("operations").beginArray();
    reasons.entrySet().stream()
        .limit(MAX)
        .forEach(
            each ->
                out.beginObject()
                    .member("operation", truncated(each.getKey()))
                    .member("reason", truncated(each.getValue()))
                    .endObject());
    return out.endArray().endObject().toSlice();
  }

  private static String truncated(String text) {
    return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT) + "…";
  }
}
