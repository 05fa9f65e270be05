package dev.mcpbridge.server;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.session.Negotiated;
import dev.mcpbridge.session.Pages;
import dev.mcpbridge.session.Session;
import io.vertx.core.Future;
import java.util.List;

/** Asks a server for everything it offers, all lists at once, each over all its pages. */
final class Discovery {
  private Discovery() {}

  static Future<Catalogue> of(Session session, Negotiated negotiated, long timeoutMillis) {
    boolean hasResources = negotiated.offers("resources");
    Future<List<JsonSlice>> tools =
        list(session, negotiated.offers("tools"), McpMethod.TOOLS_LIST, "tools", timeoutMillis);
    Future<List<JsonSlice>> resources =
        list(session, hasResources, McpMethod.RESOURCES_LIST, "resources", timeoutMillis);
    Future<List<JsonSlice>> templates =
        list(session, hasResources, McpMethod.TEMPLATES_LIST, "resourceTemplates", timeoutMillis);
    Future<List<JsonSlice>> prompts =
        list(
            session,
            negotiated.offers("prompts"),
            McpMethod.PROMPTS_LIST,
            "prompts",
            timeoutMillis);
    return Future.all(tools, resources, templates, prompts)
        .map(
            all ->
                CatalogueReader.read(
                    tools.result(), resources.result(), templates.result(), prompts.result()));
  }

  private static Future<List<JsonSlice>> list(
      Session session, boolean offered, String method, String member, long timeoutMillis) {
    if (!offered) {
      return Future.succeededFuture(List.of());
    }
    return Pages.all(session, method, member, timeoutMillis).recover(Discovery::noneIfUnknown);
  }

  /** A server may declare a capability and still not know every list that belongs to it. */
  private static Future<List<JsonSlice>> noneIfUnknown(Throwable failure) {
    boolean unknown = failure instanceof BridgeException e && e.code() == ErrorCode.NOT_FOUND;
    return unknown ? Future.succeededFuture(List.of()) : Future.failedFuture(failure);
  }
}
