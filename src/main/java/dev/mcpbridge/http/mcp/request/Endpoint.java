package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.BridgePath;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;

/**
 * What a path of the door offers: all servers or one, and all tools or the three of lean discovery.
 *
 * @param server null for all
 */
public record Endpoint(ServerId server, boolean isLean, CatalogueCache catalogues) {

  /** The endpoint of a request. */
  public static Endpoint of(RoutingContext ctx, CatalogueCache catalogues) {
    return new Endpoint(server(ctx), Queries.isLean(ctx), catalogues);
  }

  /** The server of a request's path; null for all. */
  public static ServerId server(RoutingContext ctx) {
    String name = ctx.pathParam("server");
    if (name == null) {
      return null;
    }
    if (!ServerId.isValid(name)) {
      throw new BridgeException(ErrorCode.SERVER_NOT_FOUND, "No such server");
    }
    return new ServerId(name);
  }

  /**
   * The catalogue for a request. Another bridge does not wait for starting servers: it may be one
   * of them.
   */
  public Future<ToolCatalogue> catalogue(ClientMessage request, Principal caller) {
    Future<ToolCatalogue> whole;
    if (server != null) {
      whole = catalogues.of(caller, server);
    } else if (BridgePath.of(request.meta()).isEmpty()) {
      whole = catalogues.ofAll(caller);
    } else {
      whole = Future.succeededFuture(catalogues.now(caller));
    }
    return isLean ? whole.map(ToolCatalogue::lean) : whole;
  }
}
