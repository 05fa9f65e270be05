package dev.mcpbridge.http.openapi;

import dev.mcpbridge.call.Offer;
import dev.mcpbridge.call.Offers;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.RoutingContext;
import java.util.LinkedHashMap;
import java.util.Map;

/** GET /servers/{server}/openapi.json and /tools/openapi.json. */
public final class OpenApiDoor {
  private static final int KEPT = 8;

  private final Vertx vertx;
  private final Offers offers;
  private final Map<Key, Future<JsonSlice>> documents =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Future<JsonSlice>> eldest) {
          return size() > KEPT;
        }
      };

  private record Key(Offer offer, String server) {}

  public OpenApiDoor(Vertx vertx, Offers offers) {
    this.vertx = vertx;
    this.offers = offers;
  }

  public void ofServer(RoutingContext ctx) {
    String name = ctx.pathParam("server");
    if (!ServerId.isValid(name)) {
      throw new BridgeException(ErrorCode.SERVER_NOT_FOUND, "No such server");
    }
    offers
        .of(new ServerId(name))
        .compose(offer -> document(ctx, offer, "Tools of the server " + name))
        .onSuccess(document -> Replies.tagged(ctx, tag(document), document))
        .onFailure(ctx::fail);
  }

  public void ofAll(RoutingContext ctx) {
    offers
        .ofAll()
        .compose(offer -> document(ctx, offer, "Tools of all servers"))
        .onSuccess(document -> Replies.tagged(ctx, tag(document), document))
        .onFailure(ctx::fail);
  }

  private Future<JsonSlice> document(RoutingContext ctx, Offer offer, String title) {
    Key key = new Key(offer, address(ctx));
    return documents
        .computeIfAbsent(
            key,
            k -> vertx.executeBlocking(() -> ToolDocument.of(offer, title, key.server()), false))
        .onFailure(failed -> documents.remove(key));
  }

  /** The host has been checked before: it is one of this bridge's. */
  private static String address(RoutingContext ctx) {
    HostAndPort host = ctx.request().authority();
    return ctx.request().scheme() + "://" + host;
  }

  private static String tag(JsonSlice document) {
    return new Sha256().add(document).hex(24);
  }
}
