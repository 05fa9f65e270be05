package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ToolResult;
import java.util.List;

/** Tool results with {@code isError}, written for a model to read. */
final class ToolErrors {
  private ToolErrors() {}

  static JsonSlice of(String message) {
    return of(message, List.of());
  }

  static JsonSlice of(String message, List<?> details) {
    StringBuilder text = new StringBuilder(message);
    details.forEach(detail -> text.append("\n- ").append(detail));
    return ToolResult.text(text.toString()).error();
  }
}
