package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.net.URI;
import java.util.List;
import java.util.Map;

/**
 * An API that is understood.
 *
 * @param base where it is; paths are added to its path
 * @param tools in the order of the document
 * @param omitted why an operation is not offered, by its method and path
 * @param lost what could not be offered or said, and why
 */
record Api(
    String title,
    String version,
    String description,
    URI base,
    Map<String, OfferedOperation> tools,
    Map<String, String> omitted,
    List<String> lost) {
  private static final int MAX_OMISSIONS = 200;
  private static final int MAX_REASON = 300;

  /** The first of them, and how many they are, as JSON; null where everything is offered. */
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
                    .member("operation", cut(each.getKey()))
                    .member("reason", cut(each.getValue()))
                    .endObject());
    return out.endArray().endObject().toSlice();
  }

  private static String cut(String text) {
    return text.length() <= MAX_REASON ? text : text.substring(0, MAX_REASON) + "…";
  }

  /** An operation with the tool that stands for it. */
  record OfferedOperation(Operation operation, JsonSlice definition) {
    boolean promisesOutput() {
      return JsonObjects.members(definition).containsKey("outputSchema");
    }
  }
}
