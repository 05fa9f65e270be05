package dev.mcpbridge.http;

import dev.mcpbridge.auth.Scope;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Problems;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The ordered table of all routes, each with the scope that it requires. {@link HttpVerticle}
 * mounts the checks before the table.
 */
final class Routes {
  private final List<Route> table = new ArrayList<>();

  /**
   * @param path with {@code {parameters}}, as in the OpenAPI document
   */
  record Route(HttpMethod method, String path, Scope scope, Handler<RoutingContext> handler) {
    boolean isLookup() {
      return method == HttpMethod.GET
          && scope == Scope.READ
          && !path.equals("/events")
          && !path.endsWith("/mcp")
          && !path.endsWith("/sse");
    }
  }

  /** The table, the most frequently used route first. */
  static Routes of(Doors doors) {
    return new Routes()
        .post("/servers/{server}/tools/{tool}", Scope.CALL, doors.calls()::callTool)
        .post("/mcp", Scope.READ, doors.mcp()::post)
        .get("/mcp", Scope.READ, doors.mcp()::get)
        .delete("/mcp", Scope.READ, doors.mcp()::delete)
        .post("/servers/{server}/mcp", Scope.READ, doors.mcp()::post)
        .get("/servers/{server}/mcp", Scope.READ, doors.mcp()::get)
        .delete("/servers/{server}/mcp", Scope.READ, doors.mcp()::delete)
        .get("/sse", Scope.READ, doors.mcp()::openSse)
        .post("/sse", Scope.READ, doors.mcp()::postSse)
        .get("/servers/{server}/sse", Scope.READ, doors.mcp()::openSse)
        .post("/servers/{server}/sse", Scope.READ, doors.mcp()::postSse)
        .post("/toolcall", Scope.CALL, doors.toolcall()::run)
        .get("/toolcall/tools", Scope.READ, doors.toolcall()::list)
        .post("/batch", Scope.CALL, doors.batch()::run)
        .get("/servers/{server}/resources/{uri}", Scope.CALL, doors.calls()::readResource)
        .post("/servers/{server}/prompts/{prompt}", Scope.CALL, doors.calls()::getPrompt)
        .get("/calls/{call}", Scope.CALL, doors.background()::show)
        .delete("/calls/{call}", Scope.CALL, doors.background()::cancel)
        .get("/servers", Scope.READ, doors.servers()::list)
        .post("/servers", Scope.ADMIN, doors.servers()::start)
        .get("/servers/{server}", Scope.READ, doors.servers()::show)
        .delete("/servers/{server}", Scope.ADMIN, doors.servers()::stop)
        .put("/servers/{server}/credentials", Scope.CALL, doors.credentials()::put)
        .delete("/servers/{server}/credentials", Scope.CALL, doors.credentials()::delete)
        .post("/servers/{server}/restart", Scope.ADMIN, doors.servers()::restart)
        .get("/servers/{server}/tools", Scope.READ, doors.catalogue()::tools)
        .get("/servers/{server}/resources", Scope.READ, doors.catalogue()::resources)
        .get("/servers/{server}/resource-templates", Scope.READ, doors.catalogue()::templates)
        .get("/servers/{server}/prompts", Scope.READ, doors.catalogue()::prompts)
        .get("/tools", Scope.READ, doors.catalogue()::search)
        .get("/confirmations", Scope.CALL, doors.confirmations()::list)
        .get("/confirmations/{confirmation}", Scope.CALL, doors.confirmations()::show)
        .post("/confirmations/{confirmation}", Scope.CALL, doors.confirmations()::decide)
        .get("/events", Scope.READ, doors.events()::listen)
        .get("/health", Scope.READ, doors.health()::health)
        .get("/health/live", Scope.READ, doors.health()::live)
        .get("/health/ready", Scope.READ, doors.health()::ready)
        .get("/metrics", Scope.READ, doors.metrics()::metrics)
        .get("/servers/{server}/openapi.json", Scope.READ, doors.documents()::ofServer)
        .get("/tools/openapi.json", Scope.READ, doors.documents()::ofAll)
        .get("/openapi.json", Scope.READ, doors.openapi());
  }

  List<Route> table() {
    return List.copyOf(table);
  }

  /** Mounts the table. A known path with another method gets 405 and the allowed methods. */
  void mount(Router router, KeylessChecks keyless) {
    Map<String, List<Route>> byPath =
        table.stream()
            .collect(Collectors.groupingBy(Route::path, LinkedHashMap::new, Collectors.toList()));
    table.forEach(route -> mount(router, route, keyless));
    byPath.forEach(
        (path, routes) -> router.route(pattern(path)).handler(ctx -> refuseMethod(routes)));
    router.route().handler(ctx -> ctx.fail(404));
    router.route().failureHandler(Problems::render);
  }

  /** Supports HEAD on routes that only read (RFC 9110 section 9.3.2). */
  private static void mount(Router router, Route route, KeylessChecks keyless) {
    io.vertx.ext.web.Route mounted =
        router
            .route(route.method(), pattern(route.path()))
            .handler(ctx -> serve(route, ctx, keyless));
    if (route.isLookup()) {
      mounted.method(HttpMethod.HEAD);
    }
  }

  private static void serve(Route route, RoutingContext ctx, KeylessChecks keyless) {
    if (!Callers.of(ctx).may(route.scope())) {
      throw new BridgeException(
          ErrorCode.FORBIDDEN, "The scope '" + route.scope().apiName() + "' is required");
    }
    if (route.scope() == Scope.ADMIN) {
      keyless.check(ctx).map(passed -> handle(route, ctx)).onFailure(ctx::fail);
    } else {
      route.handler().handle(ctx);
    }
  }

  private static Void handle(Route route, RoutingContext ctx) {
    route.handler().handle(ctx);
    return null;
  }

  private static void refuseMethod(List<Route> routes) {
    String allow =
        routes.stream().map(route -> route.method().name()).collect(Collectors.joining(", "));
    throw new BridgeException(ErrorCode.METHOD_NOT_ALLOWED, "Method not allowed; use " + allow)
        .with("allow", allow);
  }

  private static String pattern(String path) {
    return path.replaceAll("\\{(\\w+)}", ":$1");
  }

  private Routes get(String path, Scope scope, Handler<RoutingContext> handler) {
    return add(HttpMethod.GET, path, scope, handler);
  }

  private Routes post(String path, Scope scope, Handler<RoutingContext> handler) {
    return add(HttpMethod.POST, path, scope, handler);
  }

  private Routes put(String path, Scope scope, Handler<RoutingContext> handler) {
    return add(HttpMethod.PUT, path, scope, handler);
  }

  private Routes delete(String path, Scope scope, Handler<RoutingContext> handler) {
    return add(HttpMethod.DELETE, path, scope, handler);
  }

  private Routes add(HttpMethod method, String path, Scope scope, Handler<RoutingContext> handler) {
    table.add(new Route(method, path, scope, handler));
    return this;
  }
}
