package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.model.ServerIdentity;
import dev.mcpbridge.profile.Profile;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.BridgePath;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.MetaKeys;

/**
 * How an endpoint introduces itself: with the identity and instructions of its only server, with
 * the instructions of its profile, or as the bridge for several servers. Declares the capabilities
 * of its servers and of the bridge.
 */
public final class EndpointInfo {
  private final BridgeIdentity bridge;

  public EndpointInfo(BridgeIdentity bridge) {
    this.bridge = bridge;
  }

  /**
   * Writes the members of a result of {@code initialize} or {@code server/discover}.
   *
   * @param bridgePath of the request; not empty for another bridge, which does not wait until all
   *     servers have started and gets all capabilities that may follow
   */
  public void write(
      JsonWriter out, ToolCatalogue toolCatalogue, boolean legacy, BridgePath bridgePath) {
    out.member("capabilities", capabilities(toolCatalogue, legacy, !bridgePath.isEmpty()));
    if (legacy) {
      out.member("serverInfo", serverInfo(toolCatalogue));
    }
    String instructions = instructions(toolCatalogue);
    if (instructions != null) {
      out.member("instructions", instructions);
    }
    if (legacy) {
      out.member("_meta", meta(new JsonWriter().beginObject()));
    }
  }

  /** The {@code _meta} of a result of the stateless era. */
  public JsonSlice statelessMeta(ToolCatalogue toolCatalogue) {
    return meta(
        new JsonWriter().beginObject().member(MetaKeys.SERVER_INFO, serverInfo(toolCatalogue)));
  }

  private JsonSlice meta(JsonWriter out) {
    return out.member(MetaKeys.BRIDGE, bridge.id()).endObject().toSlice();
  }

  private JsonSlice serverInfo(ToolCatalogue toolCatalogue) {
    ServerIdentity identity = soleServer(toolCatalogue);
    if (identity != null && identity.serverInfo() != null) {
      return identity.serverInfo();
    }
    return bridge.implementation();
  }

  private static JsonSlice capabilities(
      ToolCatalogue toolCatalogue, boolean legacy, boolean toBridge) {
    JsonWriter out = new JsonWriter().beginObject();
    for (String capability : new String[] {"tools", "resources", "prompts"}) {
      if (toBridge || toolCatalogue.declares(capability)) {
        out.name(capability).beginObject().member("listChanged", true);
        if (capability.equals("resources") && (toBridge || toolCatalogue.subscribes())) {
          out.member("subscribe", true);
        }
        out.endObject();
      }
    }
    for (String capability : new String[] {"logging", "completions"}) {
      if (toolCatalogue.declares(capability) || capability.equals("logging") && legacy) {
        out.member(capability, JsonSlice.EMPTY_OBJECT);
      }
    }
    return out.endObject().toSlice();
  }

  /** Null without any. */
  private static String instructions(ToolCatalogue toolCatalogue) {
    ServerIdentity sole = soleServer(toolCatalogue);
    return toolCatalogue
        .profile()
        .map(Profile::instructions)
        .orElse(sole == null ? null : sole.instructions());
  }

  private static ServerIdentity soleServer(ToolCatalogue toolCatalogue) {
    return toolCatalogue.isQualified() || toolCatalogue.servers().isEmpty()
        ? null
        : toolCatalogue.servers().get(0).identity();
  }
}
