package dev.mcpbridge.http.toolcall;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.util.Map;
import java.util.WeakHashMap;

/** Input schemas as trees, read once for as long as their tool is offered. Confined. */
final class InputSchemas {
  private final Map<Tool, JsonNode> trees = new WeakHashMap<>();

  /** Null where the tool has none that can be read. */
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
