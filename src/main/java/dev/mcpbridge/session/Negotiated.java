package dev.mcpbridge.session;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import java.util.Map;

/**
 * What the opening of a connection brought.
 *
 * @param revision of MCP that is spoken
 * @param capabilities the server's, as sent
 * @param serverInfo as sent, null where absent
 * @param bridge its id, where the server is another bridge, or this one; else null
 */
public record Negotiated(
    String revision,
    JsonSlice capabilities,
    JsonSlice serverInfo,
    String instructions,
    String bridge) {

  public boolean offers(String capability) {
    return JsonObjects.members(capabilities).containsKey(capability);
  }

  static Negotiated of(String revision, Map<String, JsonSlice> result, JsonSlice serverInfo) {
    return new Negotiated(
        revision,
        result.getOrDefault("capabilities", JsonSlice.EMPTY_OBJECT).detached(),
        serverInfo == null ? null : serverInfo.detached(),
        JsonObjects.string(result.get("instructions")),
        bridge(result.get("_meta")));
  }

  static String bridge(JsonSlice meta) {
    return meta == null ? null : JsonObjects.string(JsonObjects.members(meta).get(MetaKeys.BRIDGE));
  }
}
