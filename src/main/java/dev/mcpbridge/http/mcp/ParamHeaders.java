package dev.mcpbridge.http.mcp;

import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.protocol.HeaderAnnotations;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import io.vertx.core.MultiMap;
import java.util.List;

/**
 * Arguments that a tool's schema wants mirrored in headers ({@code x-mcp-header}, 2026-07-28
 * basic/transports/streamable-http): both must be there and say the same.
 */
final class ParamHeaders {
  private ParamHeaders() {}

  /** Checks a tools/call; any other request has nothing to mirror. */
  static void check(Inbound message, ToolCatalogue toolCatalogue, MultiMap headers) {
    if (message.method().equals(McpMethod.TOOLS_CALL) && message.text("name") != null) {
      toolCatalogue
          .tool(message.text("name"))
          .filter(ToolCatalogue.ToolLocation::mirrors)
          .map(toolLocation -> JsonObjects.members(toolLocation.entry()).get("inputSchema"))
          .ifPresent(
              schema ->
                  HeaderAnnotations.visit(
                      schema,
                      message.params().get("arguments"),
                      (header, argument) -> agree(header, argument, headers)));
    }
  }

  private static void agree(String header, JsonSlice value, MultiMap headers) {
    List<String> sent = headers.getAll(header);
    boolean absent = value == null;
    if (absent ? !sent.isEmpty() : sent.size() != 1) {
      throw StatelessMeta.mismatch(
          absent
              ? "The header " + header + " mirrors an argument that is not there"
              : "The header " + header + " must be there once");
    }
    if (!absent && !isSame(StatelessMeta.decoded(sent.get(0)), value)) {
      throw StatelessMeta.mismatch("The header " + header + " does not agree with its argument");
    }
  }

  private static boolean isSame(String header, JsonSlice value) {
    String text = JsonObjects.string(value);
    return header.equals(text == null ? value.text() : text);
  }
}
