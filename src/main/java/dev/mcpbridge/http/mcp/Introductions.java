package dev.mcpbridge.http.mcp;

import dev.mcpbridge.call.Offer;
import dev.mcpbridge.model.ServerIdentity;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;

/**
 * What an endpoint says of itself: one server introduces itself in its own words, several are
 * introduced by the bridge. Declares what is behind it and what the bridge adds, nothing more.
 */
final class Introductions {
  private final String version;

  Introductions(String version) {
    this.version = version;
  }

  /** The members {@code capabilities}, {@code serverInfo} and {@code instructions}. */
  void write(JsonWriter out, Offer offer, boolean legacy) {
    out.member("capabilities", capabilities(offer, legacy));
    if (legacy) {
      out.member("serverInfo", serverInfo(offer));
    }
    String instructions = only(offer) == null ? null : only(offer).instructions();
    if (instructions != null) {
      out.member("instructions", instructions);
    }
  }

  JsonSlice serverInfo(Offer offer) {
    ServerIdentity identity = only(offer);
    if (identity != null && identity.serverInfo() != null) {
      return identity.serverInfo();
    }
    return new JsonWriter()
        .beginObject()
        .member("name", "mcp-bridge")
        .member("version", version)
        .endObject()
        .toSlice();
  }

  private static JsonSlice capabilities(Offer offer, boolean legacy) {
    JsonWriter out = new JsonWriter().beginObject();
    for (String listed : new String[] {"tools", "resources", "prompts"}) {
      if (offer.declares(listed)) {
        out.name(listed).beginObject().member("listChanged", true);
        if (listed.equals("resources") && offer.subscribes()) {
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
