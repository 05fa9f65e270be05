package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.BridgePath;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/**
 * The four lists, in pages (server/utilities/pagination). A cursor is valid for its list only,
 * until the list changes. Another bridge does not get entries that lead back to it.
 */
public final class McpLists {
  private static final int PAGE = 1000;

  private McpLists() {}

  public static JsonSlice tools(McpRequest request) {
    return page(request, "tools", request.toolCatalogue().tools());
  }

  public static JsonSlice prompts(McpRequest request) {
    return page(request, "prompts", request.toolCatalogue().prompts());
  }

  public static JsonSlice resources(McpRequest request) {
    return page(request, "resources", request.toolCatalogue().resources());
  }

  public static JsonSlice templates(McpRequest request) {
    return page(request, "resourceTemplates", request.toolCatalogue().templates());
  }

  private static JsonSlice page(McpRequest request, String member, List<JsonSlice> entries) {
    List<JsonSlice> all = BridgePath.of(request.message().meta()).withoutLoops(entries);
    int from = start(request, member, all);
    int to = Math.min(all.size(), from + PAGE);
    JsonWriter out = new JsonWriter(4096).beginObject().name(member).beginArray();
    all.subList(from, to).forEach(out::value);
    out.endArray();
    if (to < all.size()) {
      out.member("nextCursor", cursor(to, member, request.toolCatalogue(), all.size()));
    }
    return out.endObject().toSlice();
  }

  private static int start(McpRequest request, String member, List<JsonSlice> all) {
    JsonSlice cursor = request.message().params().get("cursor");
    if (cursor == null || cursor.equals(JsonSlice.NULL)) {
      return 0;
    }
    String text = request.message().stringParam("cursor");
    for (int from = PAGE; from < all.size(); from += PAGE) {
      if (cursor(from, member, request.toolCatalogue(), all.size()).equals(text)) {
        return from;
      }
    }
    throw new BridgeException(ErrorCode.INVALID_PARAMS, "The 'cursor' is invalid or expired");
  }

  private static String cursor(int from, String member, ToolCatalogue toolCatalogue, int size) {
    String text = from + "/" + member + "/" + size + "/" + toolCatalogue.digest();
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
