package dev.mcpbridge.http.openapi;

import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.MountPoint;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.Selections;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.RoutingContext;
import java.util.Map;

/** GET /servers/{server}/openapi.json, /profiles/{profile}/openapi.json, /tools/openapi.json. */
public final class OpenApiDoor {
  private static final int MAX_DOCUMENTS = 8;

  private final Vertx vertx;
  private final CatalogueCache catalogueCache;
  private final Map<DocumentKey, Future<JsonSlice>> documents = new BoundedMap<>(MAX_DOCUMENTS);

  private record DocumentKey(ToolCatalogue toolCatalogue, String server) {}

  public OpenApiDoor(Vertx vertx, CatalogueCache catalogueCache) {
    this.vertx = vertx;
    this.catalogueCache = catalogueCache;
  }

  public void describe(RoutingContext ctx) {
    Selection selection = Selections.of(ctx);
    catalogueCache
        .of(Callers.of(ctx), selection)
        .compose(toolCatalogue -> document(ctx, toolCatalogue, title(selection)))
        .onSuccess(document -> Replies.tagged(ctx, tag(document), document))
        .onFailure(ctx::fail);
  }

  private static String title(Selection selection) {
    if (selection.profile() != null) {
      return "Tools of the profile " + selection.profile();
    }
    return selection.server() == null
        ? "Tools of all servers"
        : "Tools of the server " + selection.server();
  }

  private Future<JsonSlice> document(
      RoutingContext ctx, ToolCatalogue toolCatalogue, String title) {
    DocumentKey documentKey = new DocumentKey(toolCatalogue, baseUrl(ctx));
    return documents
        .computeIfAbsent(
            documentKey,
            k ->
                vertx.executeBlocking(
                    () -> ToolDocument.of(toolCatalogue, title, documentKey.server()), false))
        .onFailure(failed -> documents.remove(documentKey));
  }

  /** The base URL of the request; the host has been validated before. */
  private static String baseUrl(RoutingContext ctx) {
    HostAndPort host = ctx.request().authority();
    return ctx.request().scheme() + "://" + host + MountPoint.prefix(ctx);
  }

  private static String tag(JsonSlice document) {
    return new Sha256().add(document).hex(24);
  }
}
