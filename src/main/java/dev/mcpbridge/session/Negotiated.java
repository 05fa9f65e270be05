package dev.mcpbridge.session;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ProtocolVersion;
import java.util.Map;

/**
 * What a handshake brought.
 *
 * @param capabilities the server's, as sent
 * @param serverInfo as sent, null where absent
 */
public record Negotiated(
    ProtocolVersion version, JsonSlice capabilities, JsonSlice serverInfo, String instructions) {

  public boolean offers(String capability) {
    return JsonObjects.members(capabilities).containsKey(capability);
  }

  static Negotiated of(ProtocolVersion version, Map<String, JsonSlice> result) {
    JsonSlice serverInfo = result.get("serverInfo");
    return new Negotiated(
        version,
        result.getOrDefault("capabilities", JsonSlice.EMPTY_OBJECT).detached(),
        serverInfo == null ? null : serverInfo.detached(),
        JsonObjects.string(result.get("instructions")));
  }
}
