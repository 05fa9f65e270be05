package dev.mcpbridge.http.mcp;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.DecidedCalls;
import dev.mcpbridge.call.Directory;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.mcp.reply.PostReplies;
import dev.mcpbridge.http.mcp.reply.RpcErrors;
import dev.mcpbridge.http.mcp.request.CatalogueChanges;
import dev.mcpbridge.http.mcp.request.DecisionWaiter;
import dev.mcpbridge.http.mcp.request.Endpoint;
import dev.mcpbridge.http.mcp.request.EndpointInfo;
import dev.mcpbridge.http.mcp.request.McpCalls;
import dev.mcpbridge.http.mcp.request.RequestStates;
import dev.mcpbridge.http.mcp.request.ResourceSubscribers;
import dev.mcpbridge.http.mcp.request.SuspendedCalls;
import dev.mcpbridge.http.mcp.session.LegacyRequests;
import dev.mcpbridge.http.mcp.session.LegacySessions;
import dev.mcpbridge.http.mcp.session.SseDoor;
import dev.mcpbridge.http.mcp.stateless.StatelessMeta;
import dev.mcpbridge.http.mcp.stateless.StatelessRequests;
import dev.mcpbridge.http.reply.Selections;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.BridgePath;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.trace.Tracer;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * MCP over Streamable HTTP: {@code /mcp} for all servers, {@code /servers/{server}/mcp} for one,
 * {@code /profiles/{profile}/mcp} for a profile. Reads a message, determines its era, and passes it
 * on.
 */
public final class McpDoor {
  private final CatalogueCache catalogueCache;
  private final BridgeIdentity identity;
  private final int maxDepth;
  private final Tracer tracer;
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
      AccessControl access,
      CallPipeline pipeline,
      DecidedCalls decided,
      CallIds ids,
      StreamSlots streams,
      Shares sessions,
      long idleMillis) {

    private McpCalls calls(CatalogueCache catalogueCache, BridgeIdentity identity) {
      RequestStates states = new RequestStates(identity);
      return new McpCalls(
          bus,
          pipeline,
          ids,
          catalogueCache.lean(),
          new DecisionWaiter(vertx, decided),
          new SuspendedCalls(vertx, bus, cluster, states),
          states);
    }

    private LegacySessions sessions(CatalogueChanges changes) {
      return new LegacySessions(vertx, bus, cluster, sessions, idleMillis, changes);
    }
  }

  public McpDoor(
      Dependencies deps, CatalogueCache catalogueCache, BridgeIdentity identity, int maxDepth) {
    this.catalogueCache = catalogueCache;
    this.identity = identity;
    this.maxDepth = maxDepth;
    this.tracer = deps.bus().telemetry().tracer();
    McpCalls calls = deps.calls(catalogueCache, identity);
    EndpointInfo info = new EndpointInfo(identity);
    PostReplies replies = new PostReplies(deps.vertx(), deps.streams());
    CatalogueChanges changes = new CatalogueChanges(deps.bus(), deps.access(), catalogueCache);
    ResourceSubscribers subscribers =
        new ResourceSubscribers(deps.bus(), deps.directory(), deps.access(), catalogueCache);
    this.legacy = new LegacyRequests(deps.sessions(changes), calls, info, replies, subscribers);
    this.stateless = new StatelessRequests(calls, info, replies, changes, subscribers);
    this.sse = new SseDoor(legacy, replies);
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
        (message, endpoint) -> {
          if (StatelessMeta.isIn(message, ctx.request().headers())) {
            stateless.take(ctx, message, endpoint);
          } else {
            legacy.handle(ctx, message, endpoint);
          }
        });
  }

  private void handle(
      RoutingContext ctx, byte[] body, BiConsumer<ClientMessage, Endpoint> handler) {
    ClientMessage message = null;
    try {
      message = ClientMessage.read(body, maxDepth);
      checkLoop(message);
      handler.accept(message, Endpoint.of(ctx, catalogueCache, tracer));
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
      legacy.handleBatch(ctx, messages, Endpoint.of(ctx, catalogueCache, tracer));
    } catch (BridgeException e) {
      RpcErrors.refuse(ctx, null, e);
    }
  }

  /** GET: the stream of a session; the stateless era has none. */
  public void get(RoutingContext ctx) {
    Selection selection = selection(ctx);
    requireSession(ctx);
    legacy.listen(ctx, selection);
  }

  /** DELETE: ends a session. */
  public void delete(RoutingContext ctx) {
    Selection selection = selection(ctx);
    requireSession(ctx);
    legacy.end(ctx, selection);
  }

  /** GET of HTTP+SSE: opens its stream. */
  public void openSse(RoutingContext ctx) {
    sse.open(ctx, selection(ctx));
  }

  /** POST of HTTP+SSE: a message for a stream. */
  public void postSse(RoutingContext ctx) {
    handle(ctx, bytes(ctx), (message, endpoint) -> sse.take(ctx, message, endpoint));
  }

  /**
   * @throws BridgeException PROFILE_NOT_FOUND
   */
  private Selection selection(RoutingContext ctx) {
    Selection selection = Selections.of(ctx);
    if (selection.profile() != null) {
      catalogueCache.profiles().get(selection.profile());
    }
    return selection;
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
}
