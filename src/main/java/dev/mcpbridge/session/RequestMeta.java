package dev.mcpbridge.session;

import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.BridgePath;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.ProtocolVersion;
import java.util.Map;
import java.util.Set;

/**
 * Writes the {@code _meta} member of requests to a server: the client's own members, the progress
 * token and, for a stateless server, the client's identity and capabilities.
 */
final class RequestMeta {
  private static final Set<String> CALLS =
      Set.of(McpMethod.TOOLS_CALL, McpMethod.PROMPTS_GET, McpMethod.RESOURCES_READ);

  private JsonSlice clientInfo;
  private String self;

  /** Adds version, client info and capabilities to further requests (2026-07-28 basic/index). */
  void enableClientInfo(BridgeIdentity self) {
    clientInfo = self.implementation();
  }

  /**
   * Adds the bridge path to all further requests, since the server is a bridge, too.
   *
   * @param bridge id of this bridge; null if the server is not a bridge after all
   */
  void setBridgePath(String bridge) {
    self = bridge;
  }

  /** Reverts {@link #enableClientInfo}. */
  void disableClientInfo() {
    clientInfo = null;
  }

  boolean isStateless() {
    return clientInfo != null;
  }

  /** The {@code _meta} of a request; null if it would be empty. */
  JsonSlice of(Exchange exchange) {
    Envelope envelope = exchange.request.envelope();
    boolean hasProgress = exchange.request.progress() != null;
    if (!hasProgress && clientInfo == null && self == null && envelope.meta().length() <= 2) {
      return null;
    }
    JsonWriter out = new JsonWriter().beginObject().membersOf(withPath(envelope.meta()));
    if (self != null
        && CALLS.contains(exchange.request.method())
        && !envelope.supportsElicitation("form")) {
      out.member(MetaKeys.CONFIRMS, true);
    }
    if (hasProgress) {
      out.member(MetaKeys.PROGRESS_TOKEN, exchange.id);
    }
    if (clientInfo != null) {
      out.member(MetaKeys.VERSION, ProtocolVersion.STATELESS)
          .member(MetaKeys.CAPABILITIES, envelope.capabilities())
          .member(MetaKeys.CLIENT_INFO, clientInfo);
      if (envelope.logLevel() != null) {
        out.member(MetaKeys.LOG_LEVEL, envelope.logLevel());
      }
    }
    return out.endObject().toSlice();
  }

  /** Appends this bridge to the path, or removes the path if the server is not a bridge. */
  private JsonSlice withPath(JsonSlice meta) {
    if (self == null && meta.length() <= 2) {
      return meta;
    }
    Map<String, JsonSlice> members = JsonObjects.members(meta);
    if (self != null) {
      return JsonObjects.with(meta, MetaKeys.VIA, BridgePath.of(members).append(self).toJson());
    }
    return members.containsKey(MetaKeys.VIA) ? JsonObjects.without(meta, MetaKeys.VIA) : meta;
  }
}
