package dev.mcpbridge.http.mcp;

import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.model.ServerIdentity;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.BridgePath;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.MetaKeys;

/**
 * What an endpoint says of itself: one server introduces itself in its own words, several are
 * introduced by the bridge. Declares what is behind it and what the bridge adds, nothing more.
 */
final class EndpointInfo {
  private final BridgeIdentity self;

  EndpointInfo(BridgeIdentity self) {
    this.self = self;
  }

  /**
   * Its members of the result of {@code initialize} or {@code server/discover}.
   *
   * @param bridgePath of the request; other bridges do not wait until everything has started, so
   *     they are told what there may be
   */
  void write(JsonWriter out, ToolCatalogue toolCatalogue, boolean legacy, BridgePath bridgePath) {
    out.member("capabilities", capabilities(toolCatalogue, legacy, !bridgePath.isEmpty()));
    if (legacy) {
      out.member("serverInfo", serverInfo(toolCatalogue));
    }
    String instructions = only(toolCatalogue) == null ? null : only(toolCatalogue).instructions();
    if (instructions != null) {
      out.member("instructions", instructions);
    }
    if (legacy) {
      out.member("_meta", meta(new JsonWriter().beginObject()));
    }
  }

  /** The {@code _meta} of a result of the stateless era. */
  JsonSlice statelessMeta(ToolCatalogue toolCatalogue) {
    return meta(
        new JsonWriter().beginObject().member(MetaKeys.SERVER_INFO, serverInfo(toolCatalogue)));
  }

  private JsonSlice meta(JsonWriter out) {
    return out.member(MetaKeys.BRIDGE, self.id()).endObject().toSlice();
  }

  private JsonSlice serverInfo(ToolCatalogue toolCatalogue) {
    ServerIdentity identity = only(toolCatalogue);
    if (identity != null && identity.serverInfo() != null) {
      return identity.serverInfo();
    }
    return self.implementation();
  }

  private static JsonSlice capabilities(
      ToolCatalogue toolCatalogue, boolean legacy, boolean toBridge) {
    JsonWriter out = new JsonWriter().beginObject();
    for (String listed : new String[] {"tools", "resources", "prompts"}) {
      if (toBridge || toolCatalogue.declares(listed)) {
        out.name(listed).beginObject().member("listChanged", true);
        if (listed.equals("resources") && (toBridge || toolCatalogue.subscribes())) {
          out.member("subscribe", true);
        }
        out.endObject();
      }
    }
    for (String plain : new String[] {"logging", "completions"}) {
      if (toolCatalogue.declares(plain) || plain.equals("logging") && legacy) {
        out.member(plain, JsonSlice.EMPTY_OBJECT);
      }
    }
    return out.endObject().toSlice();
  }

  private static ServerIdentity only(ToolCatalogue toolCatalogue) {
    return toolCatalogue.isQualified() || toolCatalogue.servers().isEmpty()
        ? null
        : toolCatalogue.servers().get(0).identity();
  }
}
