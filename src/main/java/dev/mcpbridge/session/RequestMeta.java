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
 * Writes the {@code _meta} of what goes to a server: the client's own members, the progress token,
 * and, where the server keeps no session, who asks and what they can do.
 */
final class RequestMeta {
  private static final Set<String> CALLS =
      Set.of(McpMethod.TOOLS_CALL, McpMethod.PROMPTS_GET, McpMethod.RESOURCES_READ);

  private JsonSlice clientInfo;
  private String self;

  /** From now on every request introduces itself (2026-07-28 basic/index). */
  void introduce(BridgeIdentity self) {
    clientInfo = self.implementation();
  }

  /**
   * From now on every request says which way it has come: the server is a bridge, too.
   *
   * @param bridge null where it turned out to be none
   */
  void follow(String bridge) {
    self = bridge;
  }

  void withhold() {
    clientInfo = null;
  }

  boolean isStateless() {
    return clientInfo != null;
  }

  /** Null where there is nothing to say. */
  JsonSlice of(Exchange exchange) {
    Envelope envelope = exchange.request.envelope();
    boolean tells = exchange.request.progress() != null;
    if (!tells && clientInfo == null && self == null && envelope.meta().length() <= 2) {
      return null;
    }
    JsonWriter out = new JsonWriter().beginObject().membersOf(onward(envelope.meta()));
    if (self != null && CALLS.contains(exchange.request.method()) && !envelope.elicits("form")) {
      out.member(MetaKeys.CONFIRMS, true);
    }
    if (tells) {
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

  /** Which bridges a request has passed is for other bridges only. */
  private JsonSlice onward(JsonSlice meta) {
    if (self == null && meta.length() <= 2) {
      return meta;
    }
    Map<String, JsonSlice> members = JsonObjects.members(meta);
    if (self != null) {
      return JsonObjects.with(meta, MetaKeys.VIA, BridgePath.of(members).then(self).toJson());
    }
    return members.containsKey(MetaKeys.VIA) ? JsonObjects.without(meta, MetaKeys.VIA) : meta;
  }
}
