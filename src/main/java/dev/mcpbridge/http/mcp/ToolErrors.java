package dev.mcpbridge.http.mcp;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ToolResult;
import java.util.List;

/** Results of tools that say {@code isError}: what a model is meant to read. */
final class ToolErrors {
  private ToolErrors() {}

  static JsonSlice of(String sentence) {
    return of(sentence, List.of());
  }

  static JsonSlice of(String sentence, List<?> details) {
    StringBuilder text = new StringBuilder(sentence);
    details.forEach(detail -> text.append("\n- ").append(detail));
    return ToolResult.text(text.toString()).error();
  }
}
