package dev.mcpbridge.session;

import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.ProtocolVersion;

/**
 * Writes the {@code _meta} of what goes to a server: the client's own members, the progress token,
 * and, where the server keeps no session, who asks and what they can do.
 */
final class RequestMeta {
  private JsonSlice clientInfo;

  /** From now on every request introduces itself (2026-07-28 basic/index). */
  void introduce(String bridgeVersion) {
    clientInfo =
        new JsonWriter()
            .beginObject()
            .member("name", "mcp-bridge")
            .member("version", bridgeVersion)
            .endObject()
            .toSlice();
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
    if (!tells && clientInfo == null && envelope.meta().length() <= 2) {
      return null;
    }
    JsonWriter out = new JsonWriter().beginObject().membersOf(envelope.meta());
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
}
