package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.net.URI;
import java.util.List;
import java.util.Map;

/**
 * An API as read from its document.
 *
 * @param base base URL; paths of operations are appended to its path
 * @param tools operations by tool name, in the order of the document
 * @param omitted reasons why operations are omitted, by method and path
 * @param reductions what was omitted or reduced, with reasons, for the log
 */
record Api(
    String title,
    String version,
    String description,
    URI base,
    Map<String, OfferedOperation> tools,
    Map<String, String> omitted,
    List<String> reductions) {
  private static final int MAX_OMISSIONS = 200;
  private static final int MAX_REASON = 300;

  /** The first omitted operations and their total count as JSON; null without omissions. */
  JsonSlice omissions() {
    if (omitted.isEmpty()) {
      return null;
    }
    JsonWriter out = new JsonWriter(1024).beginObject().member("count", omitted.size());
    out.name("operations").beginArray();
    omitted.entrySet().stream()
        .limit(MAX_OMISSIONS)
        .forEach(
            each ->
                out.beginObject()
                    .member("operation", truncated(each.getKey()))
                    .member("reason", truncated(each.getValue()))
                    .endObject());
    return out.endArray().endObject().toSlice();
  }

  private static String truncated(String text) {
    return text.length() <= MAX_REASON ? text : text.substring(0, MAX_REASON) + "…";
  }

  /** An operation and the definition of its tool. */
  record OfferedOperation(Operation operation, JsonSlice definition) {
    boolean hasOutputSchema() {
      return JsonObjects.members(definition).containsKey("outputSchema");
    }
  }
}
