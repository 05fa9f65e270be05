package dev.mcpbridge.session;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.ProtocolVersion;
import io.vertx.core.Future;
import java.util.Map;

/** The handshake of 2026-07-28: a server/discover request, which older servers do not support. */
final class Discover {
  private Discover() {}

  /** Fails if the server belongs to the other era, or supports no revision of the bridge. */
  static Future<Negotiated> perform(Session session, BridgeIdentity self, long timeoutMillis) {
    session.stateless(self);
    return session
        .request(McpMethod.DISCOVER, JsonSlice.EMPTY_OBJECT, timeoutMillis)
        .map(Discover::negotiate);
  }

  private static Negotiated negotiate(JsonSlice result) {
    Map<String, JsonSlice> members = JsonObjects.members(result);
    JsonSlice supported = members.get("supportedVersions");
    boolean isSupported =
        supported != null
            && JsonObjects.elements(supported)
                .contains(JsonObjects.quoted(ProtocolVersion.STATELESS));
    if (!isSupported) {
      throw new BridgeException(
          ErrorCode.START_FAILED,
          "The server does not support MCP "
              + ProtocolVersion.STATELESS
              + "; supported versions: "
              + (supported == null ? "?" : supported.text()));
    }
    JsonSlice meta = members.get("_meta");
    JsonSlice info = meta == null ? null : JsonObjects.members(meta).get(MetaKeys.SERVER_INFO);
    return Negotiated.of(ProtocolVersion.STATELESS, members, info);
  }
}
