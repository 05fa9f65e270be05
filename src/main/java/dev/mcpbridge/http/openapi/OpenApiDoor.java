package dev.mcpbridge.http.openapi;

import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.RoutingContext;
import java.util.Map;

/** GET /servers/{server}/openapi.json and /tools/openapi.json. */
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

  public void ofServer(RoutingContext ctx) {
    String name = ctx.pathParam("server");
    if (!ServerId.isValid(name)) {
      throw new BridgeException(ErrorCode.SERVER_NOT_FOUND, "Server not found");
    }
    catalogueCache
        .of(Callers.of(ctx), new ServerId(name))
        .compose(toolCatalogue -> document(ctx, toolCatalogue, "Tools of the server " + name))
        .onSuccess(document -> Replies.tagged(ctx, tag(document), document))
        .onFailure(ctx::fail);
  }

  public void ofAll(RoutingContext ctx) {
    catalogueCache
        .ofAll(Callers.of(ctx))
        .compose(toolCatalogue -> document(ctx, toolCatalogue, "Tools of all servers"))
        .onSuccess(document -> Replies.tagged(ctx, tag(document), document))
        .onFailure(ctx::fail);
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
    return ctx.request().scheme() + "://" + host;
  }

  private static String tag(JsonSlice document) {
    return new Sha256().add(document).hex(24);
  }
}
