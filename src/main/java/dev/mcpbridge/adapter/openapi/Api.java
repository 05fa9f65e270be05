package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
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
  /** An operation and the definition of its tool. */
  record OfferedOperation(Operation operation, JsonSlice definition) {
    boolean hasOutputSchema() {
      return JsonObjects.members(definition).containsKey("outputSchema");
    }
  }
}
