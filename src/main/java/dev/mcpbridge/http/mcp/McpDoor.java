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
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.Replies;
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
 * MCP over Streamable HTTP: {@code /mcp} for all servers together, {@code /servers/{server}/mcp}
 * for one. Reads the message, finds out which era it belongs to, and hands it over.
 */
public final class McpDoor {
  private final CatalogueCache catalogueCache;
  private final BridgeIdentity self;
  private final int maxDepth;
  private final LegacyRequests legacy;
  private final StatelessRequests stateless;
  private final SseDoor sse;

  /**
   * What the door stands on.
   *
   * @param sessions that may be open at once
   * @param idleMillis after which a session that nobody uses ends
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
      Dependencies on, CatalogueCache catalogueCache, BridgeIdentity self, int maxDepth) {
    this.catalogueCache = catalogueCache;
    this.self = self;
    this.maxDepth = maxDepth;
    CatalogueChanges changes = new CatalogueChanges(on.bus());
    McpCalls calls = new McpCalls(on);
    EndpointInfo endpointInfo = new EndpointInfo(self);
    ResourceSubscribers watch = new ResourceSubscribers(on.bus(), on.directory());
    PostReplies replies = new PostReplies(on.vertx(), on.streams());
    this.legacy =
        new LegacyRequests(new LegacySessions(on, changes), calls, endpointInfo, replies, watch);
    this.stateless =
        new StatelessRequests(
            calls, endpointInfo, replies, new SubscriptionStreams(changes, watch, on.streams()));
    this.sse = new SseDoor(legacy, on.streams());
  }

  /** POST: one message, or a batch where a session is of the revision that had them. */
  public void post(RoutingContext ctx) {
    byte[] body = bytes(ctx);
    if (Inbound.isBatch(body)) {
      takeBatch(ctx, body);
      return;
    }
    take(
        ctx,
        body,
        (context, message, endpoint, offer) -> {
          if (StatelessMeta.isIn(message, ctx.request().headers())) {
            stateless.take(ctx, message, endpoint, offer);
          } else {
            legacy.take(ctx, message, endpoint, offer);
          }
        });
  }

  private interface MessageHandler {
    void take(
        RoutingContext ctx,
        Inbound message,
        ServerId endpoint,
        Supplier<Future<ToolCatalogue>> offer);
  }

  private void take(RoutingContext ctx, byte[] body, MessageHandler messageHandler) {
    Inbound message = null;
    try {
      message = Inbound.read(body, maxDepth);
      checkWay(message);
      ServerId endpoint = endpoint(ctx);
      messageHandler.take(
          ctx, message, endpoint, offer(ctx, endpoint, BridgePath.of(message.meta())));
    } catch (BridgeException e) {
      JsonSlice id = message == null ? Inbound.idIn(body) : message.id();
      Replies.json(ctx, e.code().status(), error(id, e));
    }
  }

  /** What has come round is not sent round once more; who introduces itself will find out. */
  private void checkWay(Inbound message) {
    BridgePath bridgePath = BridgePath.of(message.meta());
    boolean isIntroduction =
        McpMethod.INITIALIZE.equals(message.method())
            || McpMethod.DISCOVER.equals(message.method());
    if (!bridgePath.isEmpty() && !isIntroduction && bridgePath.passes(self.id())) {
      throw new BridgeException(
          ErrorCode.LOOP_DETECTED, "The request has come back to a bridge that had sent it on");
    }
  }

  private void takeBatch(RoutingContext ctx, byte[] body) {
    try {
      List<Inbound> messages = Inbound.readBatch(body, maxDepth);
      messages.forEach(this::checkWay);
      ServerId endpoint = endpoint(ctx);
      legacy.takeBatch(ctx, messages, endpoint, offer(ctx, endpoint, BridgePath.NONE));
    } catch (BridgeException e) {
      Replies.json(ctx, e.code().status(), error(null, e));
    }
  }

  /** A bridge is told of what starts late, and not made to wait: it may be what is waited for. */
  private Supplier<Future<ToolCatalogue>> offer(
      RoutingContext ctx, ServerId endpoint, BridgePath bridgePath) {
    Supplier<Future<ToolCatalogue>> all =
        bridgePath.isEmpty()
            ? catalogueCache::ofAll
            : () -> Future.succeededFuture(catalogueCache.now());
    Supplier<Future<ToolCatalogue>> whole =
        endpoint == null ? all : () -> catalogueCache.of(endpoint);
    return Queries.isLean(ctx) ? () -> whole.get().map(ToolCatalogue::lean) : whole;
  }

  /** GET: the stream of a session; there is none in the stateless era. */
  public void get(RoutingContext ctx) {
    requireSession(ctx);
    legacy.listen(ctx, endpoint(ctx));
  }

  /** DELETE: the end of a session. */
  public void delete(RoutingContext ctx) {
    requireSession(ctx);
    legacy.end(ctx, endpoint(ctx));
  }

  /** GET of the old transport: its stream. */
  public void openSse(RoutingContext ctx) {
    sse.open(ctx, endpoint(ctx));
  }

  /** POST of the old transport: a message for a stream. */
  public void postSse(RoutingContext ctx) {
    take(ctx, bytes(ctx), sse::take);
  }

  /** Any failure as an answer. */
  static JsonSlice error(JsonSlice id, Throwable failure) {
    return RpcReplies.error(id, Problems.of(failure));
  }

  /** Failures that a proxy or a log should see by the status, too. */
  static int status(Throwable failure) {
    return Problems.of(failure).code() == ErrorCode.FORBIDDEN ? 403 : 200;
  }

  /** Answers a request that did not come to anything, with the status that says so. */
  static void refuse(ReplyChannel replyChannel, Inbound message, Throwable failure) {
    replyChannel.finish(Problems.of(failure).code().status(), error(message.id(), failure));
  }

  /** Refuses a request that no session takes. */
  static void refuse(RoutingContext ctx, JsonSlice id, Throwable failure) {
    Replies.json(ctx, Problems.of(failure).code().status(), error(id, failure));
  }

  static BridgeException unknownMethod(String method) {
    return new BridgeException(ErrorCode.METHOD_NOT_FOUND, "Method not found: " + method);
  }

  private static byte[] bytes(RoutingContext ctx) {
    Buffer body = ctx.body().buffer();
    return body == null ? new byte[0] : body.getBytes();
  }

  private static void requireSession(RoutingContext ctx) {
    if (ctx.request().getHeader("mcp-session-id") == null) {
      throw new BridgeException(
              ErrorCode.METHOD_NOT_ALLOWED, "Without a session there is only POST here")
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
