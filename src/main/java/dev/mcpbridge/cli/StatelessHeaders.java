package dev.mcpbridge.cli;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MirroredHeaders;
import dev.mcpbridge.protocol.RpcWriter;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * The HTTP headers of a stateless client's requests. The parameters to mirror as headers are in the
 * list of tools. They are read from list responses that pass through, or the list is requested if
 * the client got it elsewhere. Thread-safe.
 */
final class StatelessHeaders {
  private static final int MAX_PAGES = 100;

  private final MirroredHeaders mirrored = new MirroredHeaders();
  private final UnaryOperator<String> lists;

  /**
   * @param lists sends a request for a list of tools and returns the response
   */
  StatelessHeaders(UnaryOperator<String> lists) {
    this.lists = lists;
  }

  /** Empty for a message of the session-based era. */
  Map<String, String> of(String message, String method) {
    JsonSlice params = JsonObjects.members(JsonSlice.of(message)).get("params");
    if (params == null || !params.isObject()) {
      return Map.of();
    }
    Map<String, JsonSlice> members = JsonObjects.members(params);
    if (!MirroredHeaders.isStateless(members)) {
      return Map.of();
    }
    if (method.equals(McpMethod.TOOLS_CALL)) {
      lookUp(JsonObjects.string(members.get("name")), members.get("_meta"));
    }
    synchronized (mirrored) {
      return mirrored.of(method, members);
    }
  }

  /**
   * Stores the headers of the tools in a list response.
   *
   * @return the cursor of the next page; null if this is the last one
   */
  JsonSlice readToolList(String answer) {
    JsonSlice result = JsonObjects.members(JsonSlice.of(answer)).get("result");
    if (result == null || !result.isObject()) {
      return null;
    }
    synchronized (mirrored) {
      mirrored.recordTools(result);
    }
    return JsonObjects.members(result).get("nextCursor");
  }

  private void lookUp(String tool, JsonSlice meta) {
    JsonSlice cursor = null;
    for (int page = 0;
        page < MAX_PAGES && !isKnown(tool) && (page == 0 || cursor != null);
        page++) {
      JsonWriter params = new JsonWriter().beginObject().member("_meta", meta);
      if (cursor != null) {
        params.member("cursor", cursor);
      }
      JsonWriter request = RpcWriter.request(0, McpMethod.TOOLS_LIST, params.endObject().toSlice());
      cursor = readToolList(lists.apply(request.toSlice().text()));
    }
  }

  private boolean isKnown(String tool) {
    synchronized (mirrored) {
      return mirrored.isListed(tool);
    }
  }
}
