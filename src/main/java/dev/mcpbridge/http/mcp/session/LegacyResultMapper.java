package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Removes from results of stateless servers what clients of older revisions do not know. */
final class LegacyResultMapper {
  private static final byte[] RESULT_TYPE = "resultType".getBytes(StandardCharsets.US_ASCII);

  private LegacyResultMapper() {}

  /** Returns the same slice if nothing is to be removed. */
  static JsonSlice of(JsonSlice result) {
    Map<String, JsonSlice> members =
        result.mentions(RESULT_TYPE) ? JsonObjects.members(result) : Map.of();
    if (!members.containsKey("resultType")) {
      return result;
    }
    members.remove("resultType");
    members.remove("ttlMs");
    members.remove("cacheScope");
    JsonSlice structured = members.get("structuredContent");
    if (structured != null && !structured.isObject()) {
      members.remove("structuredContent");
    }
    JsonSlice meta = members.get("_meta");
    if (meta != null) {
      Map<String, JsonSlice> entries = JsonObjects.members(meta);
      entries.remove(MetaKeys.SERVER_INFO);
      members.put("_meta", JsonObjects.object(entries));
      if (entries.isEmpty()) {
        members.remove("_meta");
      }
    }
    return JsonObjects.object(members);
  }
}
