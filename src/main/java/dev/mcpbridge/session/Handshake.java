package dev.mcpbridge.session;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.ProtocolVersion;
import io.vertx.core.Future;
import java.util.Map;

/**
 * The opening of the revisions up to 2025-11-25 (basic/lifecycle): {@code initialize}, a version
 * both sides speak, {@code notifications/initialized}. No client feature is announced, so a server
 * must not ask for one.
 */
public final class Handshake {
  private Handshake() {}

  public static Future<Negotiated> perform(Session session, String version, long timeoutMillis) {
    return session
        .request(McpMethod.INITIALIZE, parameters(version), timeoutMillis)
        .map(Handshake::negotiate)
        .onSuccess(n -> session.notify(McpMethod.INITIALIZED, JsonSlice.EMPTY_OBJECT));
  }

  private static JsonSlice parameters(String bridgeVersion) {
    return new JsonWriter()
        .beginObject()
        .member("protocolVersion", ProtocolVersion.LATEST.date())
        .member("capabilities", JsonSlice.EMPTY_OBJECT)
        .name("clientInfo")
        .beginObject()
        .member("name", "mcp-bridge")
        .member("version", bridgeVersion)
        .endObject()
        .endObject()
        .toSlice();
  }

  private static Negotiated negotiate(JsonSlice result) {
    Map<String, JsonSlice> members = JsonObjects.members(result);
    String answered = JsonObjects.string(members.get("protocolVersion"));
    return ProtocolVersion.of(String.valueOf(answered))
        .map(version -> Negotiated.of(version, members))
        .orElseThrow(
            () ->
                new BridgeException(
                    ErrorCode.START_FAILED,
                    "The server speaks MCP '" + answered + "', which the bridge does not"));
  }
}
