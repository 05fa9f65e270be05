package dev.mcpbridge.http.mcp;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.DecidedCalls;
import dev.mcpbridge.call.Directory;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.BridgePath;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.function.Supplier;

/**
 * MCP over Streamable HTTP: {@code /mcp} for all servers, {@code /servers/{server}/mcp} for one.
 * Reads a message, determines its era, and passes it on.
 */
public final class McpDoor {
  private final CatalogueCache catalogueCache;
  private final BridgeIdentity identity;
  private final int maxDepth;
  private final LegacyRequests legacy;
  private final StatelessRequests stateless;
  private final SseDoor sse;

  /**
   * The services that the door uses.
   *
   * @param sessions limit on open sessions
   * @param idleMillis idle time after which a session ends
   */
  public record Dependencies(
      Vertx vertx,
      Bus bus,
      Cluster cluster,
      Directory directory,
      CallPipeline pipeline,
      DecidedCalls decided,
      CallIds ids,
      StreamSlots streams,
      Shares sessions,
      long idleMillis) {}

  public McpDoor(
      Dependencies deps, CatalogueCache catalogueCache, BridgeIdentity identity, int maxDepth) {
    this.catalogueCache = catalogueCache;
    this.identity = identity;
    this.maxDepth = maxDepth;
    CatalogueChanges changes = new CatalogueChanges(deps.bus());
    McpCalls calls = new McpCalls(deps, catalogueCache.lean());
    EndpointInfo endpointInfo = new EndpointInfo(identity);
    ResourceSubscribers subscribers = new ResourceSubscribers(deps.bus(), deps.directory());
    PostReplies replies = new PostReplies(deps.vertx(), deps.streams());
    this.legacy =
        new LegacyRequests(
            new LegacySessions(deps, changes), calls, endpointInfo, replies, subscribers);
    this.stateless =
        new StatelessRequests(
            calls,
            endpointInfo,
            replies,
            new SubscriptionStreams(changes, subscribers, deps.streams()));
    this.sse = new SseDoor(legacy, deps.streams());
  }

  /** POST: one message, or a batch in a session of the revision that supports them. */
  public void post(RoutingContext ctx) {
    byte[] body = bytes(ctx);
    if (ClientMessage.isBatch(body)) {
      handleBatch(ctx, body);
      return;
    }
    handle(
        ctx,
        body,
        (context, message, endpoint, catalogue) -> {
          if (StatelessMeta.isIn(message, ctx.request().headers())) {
            stateless.take(ctx, message, endpoint, catalogue);
          } else {
            legacy.handle(ctx, message, endpoint, catalogue);
          }
        });
  }

  private interface MessageHandler {
    void handle(
        RoutingContext ctx,
        ClientMessage message,
        ServerId endpoint,
        Supplier<Future<ToolCatalogue>> catalogue);
  }

  private void handle(RoutingContext ctx, byte[] body, MessageHandler messageHandler) {
    ClientMessage message = null;
    try {
      message = ClientMessage.read(body, maxDepth);
      checkLoop(message);
      ServerId endpoint = endpoint(ctx);
      messageHandler.handle(
          ctx, message, endpoint, catalogue(ctx, endpoint, BridgePath.of(message.meta())));
    } catch (BridgeException e) {
      JsonSlice id = message == null ? ClientMessage.readId(body) : message.id();
      RpcErrors.refuse(ctx, id, e);
    }
  }

  /** Refuses a request that was forwarded before; the result of an initialization has the id. */
  private void checkLoop(ClientMessage message) {
    BridgePath bridgePath = BridgePath.of(message.meta());
    boolean isInitialization =
        McpMethod.INITIALIZE.equals(message.method())
            || McpMethod.DISCOVER.equals(message.method());
    if (!bridgePath.isEmpty() && !isInitialization && bridgePath.passes(identity.id())) {
      throw new BridgeException(
          ErrorCode.LOOP_DETECTED, "The request returned to a bridge that had forwarded it");
    }
  }

  private void handleBatch(RoutingContext ctx, byte[] body) {
    try {
      List<ClientMessage> messages = ClientMessage.readBatch(body, maxDepth);
      messages.forEach(this::checkLoop);
      ServerId endpoint = endpoint(ctx);
      legacy.handleBatch(ctx, messages, endpoint, catalogue(ctx, endpoint, BridgePath.NONE));
    } catch (BridgeException e) {
      RpcErrors.refuse(ctx, null, e);
    }
  }

  /** Another bridge does not wait for starting servers: it may be one of them. */
  private Supplier<Future<ToolCatalogue>> catalogue(
      RoutingContext ctx, ServerId endpoint, BridgePath bridgePath) {
    Supplier<Future<ToolCatalogue>> all =
        bridgePath.isEmpty()
            ? catalogueCache::ofAll
            : () -> Future.succeededFuture(catalogueCache.now());
    Supplier<Future<ToolCatalogue>> whole =
        endpoint == null ? all : () -> catalogueCache.of(endpoint);
    return Queries.isLean(ctx) ? () -> whole.get().map(ToolCatalogue::lean) : whole;
  }

  /** GET: the stream of a session; the stateless era has none. */
  public void get(RoutingContext ctx) {
    requireSession(ctx);
    legacy.listen(ctx, endpoint(ctx));
  }

  /** DELETE: ends a session. */
  public void delete(RoutingContext ctx) {
    requireSession(ctx);
    legacy.end(ctx, endpoint(ctx));
  }

  /** GET of HTTP+SSE: opens its stream. */
  public void openSse(RoutingContext ctx) {
    sse.open(ctx, endpoint(ctx));
  }

  /** POST of HTTP+SSE: a message for a stream. */
  public void postSse(RoutingContext ctx) {
    handle(ctx, bytes(ctx), sse::take);
  }

  private static byte[] bytes(RoutingContext ctx) {
    Buffer body = ctx.body().buffer();
    return body == null ? new byte[0] : body.getBytes();
  }

  private static void requireSession(RoutingContext ctx) {
    if (ctx.request().getHeader("mcp-session-id") == null) {
      throw new BridgeException(
              ErrorCode.METHOD_NOT_ALLOWED, "Without a session only POST is allowed")
          .with("allow", "POST");
    }
  }

  private static ServerId endpoint(RoutingContext ctx) {
    String name = ctx.pathParam("server");
    if (name == null) {
      return null;
    }
    if (!ServerId.isValid(name)) {
      throw new BridgeException(ErrorCode.SERVER_NOT_FOUND, "No such server");
    }
    return new ServerId(name);
  }
}
