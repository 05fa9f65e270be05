package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.PagedList;
import dev.mcpbridge.protocol.BridgePath;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.List;
import java.util.Optional;

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
    String digest = member + "/" + all.size() + "/" + request.toolCatalogue().digest();
    PagedList list = new PagedList(member, all, digest);
    JsonWriter out = new JsonWriter(4096).beginObject();
    list.write(out, offset(request, list), PAGE);
    request.replyChannel().compress(Compressed.LISTS);
    return out.endObject().toSlice();
  }

  private static int offset(McpRequest request, PagedList list) {
    JsonSlice cursor = request.message().params().get("cursor");
    if (cursor == null || cursor.equals(JsonSlice.NULL)) {
      return 0;
    }
    return Optional.ofNullable(request.message().stringParam("cursor"))
        .flatMap(list::offset)
        .orElseThrow(
            () ->
                new BridgeException(
                    ErrorCode.INVALID_PARAMS, "The 'cursor' is invalid or expired"));
  }
}
