package dev.mcpbridge.http.toolcall;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.util.Map;
import java.util.WeakHashMap;

/** A cache of parsed input schemas, weakly keyed by tool. Confined to one thread. */
final class InputSchemas {
  private final Map<Tool, JsonNode> trees = new WeakHashMap<>();

  /** The schema of a tool; null if it has no schema or an unreadable one. */
  JsonNode of(Tool tool) {
    return tool.inputSchema() == null ? null : trees.computeIfAbsent(tool, InputSchemas::read);
  }

  private static JsonNode read(Tool tool) {
    try {
      return Json.tree(tool.inputSchema());
    } catch (IOException e) {
      return null;
    }
  }
}
