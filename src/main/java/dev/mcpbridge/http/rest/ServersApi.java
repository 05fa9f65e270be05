package dev.mcpbridge.http.rest;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.Directory;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.PagedList;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.List;

/**
 * Shows, starts, restarts and stops servers.
 *
 * @param starts how many may be started at a time
 */
public record ServersApi(
    Bus bus, Directory directory, AccessControl access, Shares starts, int maxDepth) {
  /** Each start may keep a process busy until its handshake times out. */
  public static final Shares.Limit STARTS =
      new Shares.Limit("starts of servers at a time", "", 16, 1_000);

  /** GET /servers. */
  public void list(RoutingContext ctx) {
    Principal caller = Callers.of(ctx);
    List<Future<ServerView>> servers =
        access.all(caller).stream().map(server -> access.current(caller, server.id())).toList();
    Future.join(servers)
        .onComplete(
            done ->
                answerList(
                    ctx, servers.stream().filter(Future::succeeded).map(Future::result).toList()));
  }

  /** GET /servers/{server}. */
  public void show(RoutingContext ctx) {
    access
        .current(Callers.of(ctx), Paths.server(ctx))
        .onSuccess(server -> Replies.json(ctx, 200, ServerJson.details(server, isAdmin(ctx))))
        .onFailure(ctx::fail);
  }

  /** POST /servers; responds after the handshake. */
  public void start(RoutingContext ctx) {
    JsonSlice definition = Paths.arguments(ctx, maxDepth).json();
    String share = Callers.share(ctx);
    starts.acquire(share);
    bus.request(Addresses.START_SERVER, definition)
        .onComplete(done -> starts.release(share))
        .onSuccess(server -> record(ctx, "start", server.id().name(), null))
        .onFailure(failure -> record(ctx, "start", null, failure))
        .onSuccess(server -> Replies.json(ctx, 201, started(server)))
        .onFailure(ctx::fail);
  }

  /** POST /servers/{server}/restart; responds when the server is ready again. */
  public void restart(RoutingContext ctx) {
    ServerId id = Paths.server(ctx);
    directory
        .restart(id)
        .onComplete(done -> record(ctx, "restart", id.name(), done.cause()))
        .onSuccess(server -> Replies.json(ctx, 200, ServerJson.of(server, isAdmin(ctx))))
        .onFailure(ctx::fail);
  }

  /** DELETE /servers/{server}/cache: forgets the results that are kept of its calls. */
  public void clearCache(RoutingContext ctx) {
    ServerId id = Paths.server(ctx);
    directory
        .clearCache(id)
        .onComplete(done -> record(ctx, "clear-cache", id.name(), done.cause()))
        .onSuccess(server -> ctx.response().setStatusCode(204).end())
        .onFailure(ctx::fail);
  }

  /** DELETE /servers/{server}; responds when its processes have ended. */
  public void stop(RoutingContext ctx) {
    String name = ctx.pathParam("server");
    if (!ServerId.isValid(name)) {
      throw new BridgeException(ErrorCode.SERVER_NOT_FOUND, "Server not found");
    }
    bus.request(Addresses.STOP_SERVER, new ServerId(name))
        .onComplete(done -> record(ctx, "stop", name, done.cause()))
        .onSuccess(
            stopped ->
                Replies.json(
                    ctx,
                    200,
                    new JsonWriter().beginObject().member("status", "disconnected").endObject()))
        .onFailure(ctx::fail);
  }

  /** Cursors depend on the names of the servers and their order. */
  private static void answerList(RoutingContext ctx, List<ServerView> servers) {
    boolean isAdmin = isAdmin(ctx);
    List<JsonSlice> entries =
        servers.stream().map(server -> ServerJson.of(server, isAdmin)).toList();
    int names = servers.stream().map(server -> server.id().name()).toList().hashCode();
    new PagedList("servers", entries, Integer.toHexString(names)).answer(ctx);
  }

  /**
   * Records what a caller has asked for.
   *
   * @param server null if it has no name
   * @param failure null if it was done
   */
  private void record(RoutingContext ctx, String action, String server, Throwable failure) {
    bus.offer(
        Addresses.AUDIT,
        () -> Callers.auditRequest(ctx, "server.request", action, failure).with("server", server));
  }

  private static boolean isAdmin(RoutingContext ctx) {
    return Callers.of(ctx).may(Scope.ADMIN);
  }

  private static JsonWriter started(ServerView server) {
    JsonWriter out =
        new JsonWriter()
            .beginObject()
            .member("id", server.id().name())
            .member("status", "connected");
    server.pids().stream().findFirst().ifPresent(pid -> out.member("pid", pid));
    ServerJson.risk(out, server.risk().server());
    return out.endObject();
  }
}
