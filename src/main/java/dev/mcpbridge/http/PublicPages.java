package dev.mcpbridge.http;

import dev.mcpbridge.http.connect.ConsentPage;
import dev.mcpbridge.http.console.ConsolePage;
import dev.mcpbridge.http.openapi.DocsPage;
import dev.mcpbridge.http.reply.MountPoint;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Handler;
import io.vertx.ext.web.RoutingContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The pages that need no credential. Stateless. */
final class PublicPages {
  private static final List<String> LINKS =
      List.of("/servers", "/tools", "/mcp", "/openapi.json", "/docs", "/health");

  private static final List<String> HEALTH = List.of("/health", "/health/live", "/health/ready");

  private PublicPages() {}

  /**
   * The handlers by path.
   *
   * @param console whether the console is served
   * @param health answers the health checks; null if they need a credential
   */
  static Map<String, Handler<RoutingContext>> of(
      BridgeIdentity self, boolean console, Handler<RoutingContext> health) {
    Map<String, Handler<RoutingContext>> pages = new HashMap<>(DocsPage.pages());
    if (console) {
      pages.putAll(ConsolePage.pages());
    }
    JsonSlice welcome = welcome(self, console);
    pages.put("/oauth/page.css", ConsentPage::style);
    pages.put("/", ctx -> Replies.json(ctx, 200, welcome));
    if (health != null) {
      HEALTH.forEach(path -> pages.put(path, health));
    }
    return Map.copyOf(pages);
  }

  /** The handler of a page; null for another path. */
  static Handler<RoutingContext> find(
      Map<String, Handler<RoutingContext>> pages, RoutingContext ctx, String path) {
    return MountPoint.prefix(ctx).isEmpty() || HEALTH.contains(path) ? pages.get(path) : null;
  }

  /**
   * Whether a path is that of a page for browsers or of metadata, which belong to the root of a
   * host and are served by the listener only.
   */
  static boolean areMissing(RoutingContext ctx, String path) {
    return !MountPoint.prefix(ctx).isEmpty()
        && (path.startsWith(ProtectedResource.METADATA)
            || path.startsWith("/console")
            || path.startsWith("/docs")
            || Routes.needsNoCredential(path));
  }

  /** Identifies the bridge and links to its resources. */
  private static JsonSlice welcome(BridgeIdentity self, boolean console) {
    JsonWriter out =
        new JsonWriter().beginObject().membersOf(self.implementation()).name("links").beginObject();
    LINKS.forEach(path -> out.member(path.substring(1).replace(".json", ""), path));
    if (console) {
      out.member("console", "/console");
    }
    return out.endObject().endObject().toSlice();
  }
}
