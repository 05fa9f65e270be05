package dev.mcpbridge.session;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import java.util.Map;

/**
 * The result of a handshake.
 *
 * @param revision the MCP revision in use
 * @param capabilities the server's capabilities, as sent
 * @param serverInfo as sent; null if absent
 * @param instructions as sent; null if absent
 * @param bridge the bridge id, if the server is a bridge (possibly this one); otherwise null
 */
public record Negotiated(
    String revision,
    JsonSlice capabilities,
    JsonSlice serverInfo,
    String instructions,
    String bridge) {

  /** Whether the server has declared a capability. */
  public boolean hasCapability(String capability) {
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
