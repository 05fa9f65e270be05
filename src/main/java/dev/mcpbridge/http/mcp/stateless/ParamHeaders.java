package dev.mcpbridge.http.mcp.stateless;

import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.call.ToolLocation;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.protocol.HeaderAnnotations;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import io.vertx.core.MultiMap;
import java.util.List;

/**
 * Checks the headers that mirror arguments of a tool ({@code x-mcp-header}, 2026-07-28
 * basic/transports/streamable-http): both must be present and equal.
 */
final class ParamHeaders {
  private ParamHeaders() {}

  /** Checks a tools/call; other requests have no mirrored arguments. */
  static void check(ClientMessage message, ToolCatalogue toolCatalogue, MultiMap headers) {
    if (message.method().equals(McpMethod.TOOLS_CALL) && message.stringParam("name") != null) {
      toolCatalogue
          .tool(message.stringParam("name"))
          .filter(ToolLocation::mirrorsHeaders)
          .map(toolLocation -> JsonObjects.members(toolLocation.entry()).get("inputSchema"))
          .ifPresent(
              schema ->
                  HeaderAnnotations.visit(
                      schema,
                      message.params().get("arguments"),
                      (header, argument) -> checkHeader(header, argument, headers)));
    }
  }

  private static void checkHeader(String header, JsonSlice value, MultiMap headers) {
    List<String> values = headers.getAll(header);
    boolean isAbsent = value == null;
    if (isAbsent ? !values.isEmpty() : values.size() != 1) {
      throw StatelessMeta.mismatch(
          isAbsent
              ? "The header " + header + " mirrors an argument that is absent"
              : "The header " + header + " must be present exactly once");
    }
    if (!isAbsent && !isSame(StatelessMeta.decoded(values.get(0)), value)) {
      throw StatelessMeta.mismatch("The header " + header + " does not match its argument");
    }
  }

  private static boolean isSame(String header, JsonSlice value) {
    String text = JsonObjects.string(value);
    return header.equals(text == null ? value.text() : text);
  }
}
