package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import java.net.URI;
import java.util.List;
import java.util.Map;

/**
 * An API that is understood.
 *
 * @param base where it is; paths are added to its path
 * @param tools in the order of the document
 * @param lost what could not be offered or said, and why
 */
record Api(
    String title,
    String version,
    String description,
    URI base,
    Map<String, OfferedOperation> tools,
    List<String> lost) {

  /** An operation with the tool that stands for it. */
  record OfferedOperation(Operation operation, JsonSlice definition) {
    boolean promisesOutput() {
      return JsonObjects.members(definition).containsKey("outputSchema");
    }
  }
}
