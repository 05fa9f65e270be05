package dev.mcpbridge.http.mcp;

import dev.mcpbridge.call.Offer;
import dev.mcpbridge.model.ServerIdentity;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.Via;

/**
 * What an endpoint says of itself: one server introduces itself in its own words, several are
 * introduced by the bridge. Declares what is behind it and what the bridge adds, nothing more.
 */
final class Introductions {
  private final BridgeIdentity self;

  Introductions(BridgeIdentity self) {
    this.self = self;
  }

  /**
   * Its members of the result of {@code initialize} or {@code server/discover}.
   *
   * @param via of the request; other bridges do not wait until everything has started, so they are
   *     told what there may be
   */
  void write(JsonWriter out, Offer offer, boolean legacy, Via via) {
    out.member("capabilities", capabilities(offer, legacy, !via.isEmpty()));
    if (legacy) {
      out.member("serverInfo", serverInfo(offer));
    }
    String instructions = only(offer) == null ? null : only(offer).instructions();
    if (instructions != null) {
      out.member("instructions", instructions);
    }
    if (legacy) {
      out.member("_meta", meta(new JsonWriter().beginObject()));
    }
  }

  /** The {@code _meta} of a result of the stateless era. */
  JsonSlice statelessMeta(Offer offer) {
    return meta(new JsonWriter().beginObject().member(MetaKeys.SERVER_INFO, serverInfo(offer)));
  }

  private JsonSlice meta(JsonWriter out) {
    return out.member(MetaKeys.BRIDGE, self.id()).endObject().toSlice();
  }

  private JsonSlice serverInfo(Offer offer) {
    ServerIdentity identity = only(offer);
    if (identity != null && identity.serverInfo() != null) {
      return identity.serverInfo();
    }
    return self.implementation();
  }

  private static JsonSlice capabilities(Offer offer, boolean legacy, boolean toBridge) {
    JsonWriter out = new JsonWriter().beginObject();
    for (String listed : new String[] {"tools", "resources", "prompts"}) {
      if (toBridge || offer.declares(listed)) {
        out.name(listed).beginObject().member("listChanged", true);
        if (listed.equals("resources") && (toBridge || offer.subscribes())) {
          out.member("subscribe", true);
        }
        out.endObject();
      }
    }
    for (String plain : new String[] {"logging", "completions"}) {
      if (offer.declares(plain) || plain.equals("logging") && legacy) {
        out.member(plain, JsonSlice.EMPTY_OBJECT);
      }
    }
    return out.endObject().toSlice();
  }

  private static ServerIdentity only(Offer offer) {
    return offer.isQualified() || offer.servers().isEmpty()
        ? null
        : offer.servers().get(0).identity();
  }
}
