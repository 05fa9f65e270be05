package dev.mcpbridge.http;

import static io.vertx.core.http.HttpMethod.DELETE;
import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.HEAD;
import static io.vertx.core.http.HttpMethod.POST;
import static io.vertx.core.http.HttpMethod.PUT;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.AccessRecords;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.http.reply.RequestSpan;
import dev.mcpbridge.http.rest.ProfilesApi;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.trace.Tracer;
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
   * @param scope null if every caller may use it
   */
  record Route(HttpMethod method, String path, Scope scope, Handler<RoutingContext> handler) {
    boolean isLookup() {
      return method == GET
          && (scope == null || scope == Scope.READ)
          && !path.equals("/events")
          && !path.endsWith("/mcp")
          && !path.endsWith("/sse");
    }

    String name() {
      return method + " " + path;
    }

    /** Whether it is read all the time by programs that watch the bridge. */
    boolean isProbe() {
      return path.startsWith("/health") || path.equals("/metrics");
    }

    /** Whether a server must not use it through a bridge without keys. */
    boolean isGuarded() {
      return scope == Scope.ADMIN || scope == Scope.APPROVE || scope == Scope.AUDIT;
    }
  }

  /** The table, the most frequently used route first. */
  static Routes of(Doors doors) {
    return new Routes().addCalls(doors).addServers(doors).addProfiles(doors).addOperations(doors);
  }

  private Routes addCalls(Doors doors) {
    return add(POST, "/servers/{server}/tools/{tool}", Scope.CALL, doors.calls()::callTool)
        .add(POST, "/mcp", Scope.READ, doors.mcp()::post)
        .add(GET, "/mcp", Scope.READ, doors.mcp()::get)
        .add(DELETE, "/mcp", Scope.READ, doors.mcp()::delete)
        .add(POST, "/servers/{server}/mcp", Scope.READ, doors.mcp()::post)
        .add(GET, "/servers/{server}/mcp", Scope.READ, doors.mcp()::get)
        .add(DELETE, "/servers/{server}/mcp", Scope.READ, doors.mcp()::delete)
        .add(GET, "/sse", Scope.READ, doors.mcp()::openSse)
        .add(POST, "/sse", Scope.READ, doors.mcp()::postSse)
        .add(GET, "/servers/{server}/sse", Scope.READ, doors.mcp()::openSse)
        .add(POST, "/servers/{server}/sse", Scope.READ, doors.mcp()::postSse)
        .add(POST, "/toolcall", Scope.CALL, doors.toolcall()::run)
        .add(GET, "/toolcall/tools", Scope.READ, doors.toolcall()::list)
        .add(POST, "/agent/turns", Scope.CALL, doors.agent()::run)
        .add(POST, "/batch", Scope.CALL, doors.batch()::run)
        .add(GET, "/servers/{server}/resources/{uri}", Scope.CALL, doors.calls()::readResource)
        .add(POST, "/servers/{server}/prompts/{prompt}", Scope.CALL, doors.calls()::getPrompt)
        .add(GET, "/calls/{call}", Scope.CALL, doors.background()::show)
        .add(GET, "/calls", Scope.CALL, doors.allCalls()::list)
        .add(DELETE, "/calls/{call}", Scope.CALL, doors.allCalls()::cancel);
  }

  private Routes addServers(Doors doors) {
    return add(GET, "/servers", Scope.READ, doors.servers()::list)
        .add(POST, "/servers", Scope.ADMIN, doors.servers()::start)
        .add(GET, "/servers/{server}", Scope.READ, doors.servers()::show)
        .add(DELETE, "/servers/{server}", Scope.ADMIN, doors.servers()::stop)
        .add(PUT, "/servers/{server}/credentials", Scope.CALL, doors.credentials()::put)
        .add(DELETE, "/servers/{server}/credentials", Scope.CALL, doors.credentials()::delete)
        .add(POST, "/servers/{server}/restart", Scope.ADMIN, doors.servers()::restart)
        .add(DELETE, "/servers/{server}/cache", Scope.ADMIN, doors.servers()::clearCache)
        .add(GET, "/servers/{server}/log", Scope.ADMIN, doors.logs()::show)
        .add(GET, "/servers/{server}/tools", Scope.READ, doors.catalogue()::tools)
        .add(GET, "/servers/{server}/resources", Scope.READ, doors.catalogue()::resources)
        .add(GET, "/servers/{server}/resource-templates", Scope.READ, doors.catalogue()::templates)
        .add(GET, "/servers/{server}/prompts", Scope.READ, doors.catalogue()::prompts)
        .add(GET, "/tools", Scope.READ, doors.catalogue()::search)
        .add(GET, "/pins", Scope.APPROVE, doors.pinsApi()::list)
        .add(GET, "/servers/{server}/pins", Scope.APPROVE, doors.pinsApi()::show)
        .add(POST, "/servers/{server}/pins", Scope.APPROVE, doors.pinsApi()::decide);
  }

  /** The doors once more, each for what a profile offers. */
  private Routes addProfiles(Doors doors) {
    ProfilesApi profiles = doors.profiles();
    return add(POST, "/profiles/{profile}/tools/{tool}", Scope.CALL, profiles::callTool)
        .add(POST, "/profiles/{profile}/mcp", Scope.READ, doors.mcp()::post)
        .add(GET, "/profiles/{profile}/mcp", Scope.READ, doors.mcp()::get)
        .add(DELETE, "/profiles/{profile}/mcp", Scope.READ, doors.mcp()::delete)
        .add(GET, "/profiles/{profile}/sse", Scope.READ, doors.mcp()::openSse)
        .add(POST, "/profiles/{profile}/sse", Scope.READ, doors.mcp()::postSse)
        .add(POST, "/profiles/{profile}/toolcall", Scope.CALL, doors.toolcall()::run)
        .add(GET, "/profiles/{profile}/toolcall/tools", Scope.READ, doors.toolcall()::list)
        .add(POST, "/profiles/{profile}/agent/turns", Scope.CALL, doors.agent()::run)
        .add(GET, "/profiles/{profile}/openapi.json", Scope.READ, doors.documents()::describe)
        .add(GET, "/profiles", Scope.READ, profiles::list)
        .add(GET, "/profiles/{profile}", Scope.READ, profiles::show)
        .add(GET, "/profiles/{profile}/tools", Scope.READ, profiles::tools)
        .add(GET, "/profiles/{profile}/resources", Scope.READ, profiles::resources)
        .add(GET, "/profiles/{profile}/resources/{uri}", Scope.CALL, profiles::readResource)
        .add(GET, "/profiles/{profile}/resource-templates", Scope.READ, profiles::templates)
        .add(GET, "/profiles/{profile}/prompts", Scope.READ, profiles::prompts)
        .add(POST, "/profiles/{profile}/prompts/{prompt}", Scope.CALL, profiles::getPrompt);
  }

  private Routes addOperations(Doors doors) {
    return add(GET, "/audit", Scope.AUDIT, doors.audit()::search)
        .add(GET, "/confirmations", Scope.CALL, doors.confirmations()::list)
        .add(GET, "/confirmations/{confirmation}", Scope.CALL, doors.confirmations()::show)
        .add(POST, "/confirmations/{confirmation}", Scope.CALL, doors.confirmations()::decide)
        .add(GET, "/events", Scope.READ, doors.events()::listen)
        .add(GET, "/whoami", null, doors.whoami()::show)
        .add(GET, "/access/explain", Scope.READ, doors.explanations()::explainQuery)
        .add(POST, "/access/explain", Scope.READ, doors.explanations()::explain)
        .add(GET, "/health", Scope.READ, doors.health()::health)
        .add(GET, "/health/live", Scope.READ, doors.health()::live)
        .add(GET, "/health/ready", Scope.READ, doors.health()::ready)
        .add(GET, "/cluster", Scope.READ, doors.cluster()::show)
        .add(PUT, "/cluster/voters/{node}", Scope.ADMIN, doors.cluster()::addVoter)
        .add(DELETE, "/cluster/voters/{node}", Scope.ADMIN, doors.cluster()::removeVoter)
        .add(GET, "/connect/{ticket}", null, doors.connect()::show)
        .add(POST, "/connect/{ticket}", null, doors.connect()::agree)
        .add(GET, "/oauth/callback", null, doors.connect()::loggedIn)
        .add(GET, "/oauth/callback/{server}", null, doors.connect()::callback)
        .add(GET, "/oauth/client.json", null, doors.connect()::describeClient)
        .add(GET, "/console/login", null, doors.consoleLogin()::begin)
        .add(POST, "/console/login", null, doors.consoleLogin()::redeem)
        .add(POST, "/console/session", null, doors.consoleLogin()::openSession)
        .add(DELETE, "/console/session", null, doors.consoleLogin()::closeSession)
        .add(GET, "/metrics", Scope.READ, doors.metrics()::metrics)
        .add(GET, "/servers/{server}/openapi.json", Scope.READ, doors.documents()::describe)
        .add(GET, "/tools/openapi.json", Scope.READ, doors.documents()::describe)
        .add(GET, "/openapi.json", Scope.READ, doors.openapi());
  }

  /**
   * Whether a route identifies its caller by a ticket, a state or a code, and not by a credential.
   * Browsers come to it from other sites; it checks itself where its form comes from.
   */
  static boolean needsNoCredential(String path) {
    return path.startsWith("/connect/")
        || path.startsWith("/oauth/")
        || path.equals("/console/login");
  }

  List<Route> table() {
    return List.copyOf(table);
  }

  /** Mounts the table. A known path with another method gets 405 and the allowed methods. */
  void mount(Router router, KeylessChecks keyless, AccessRecords records, Tracer tracer) {
    Map<String, List<Route>> byPath =
        table.stream()
            .collect(Collectors.groupingBy(Route::path, LinkedHashMap::new, Collectors.toList()));
    table.forEach(route -> mount(router, route, keyless, records, tracer));
    byPath.forEach(
        (path, routes) -> router.route(pattern(path)).handler(ctx -> refuseMethod(routes)));
    router.route().handler(ctx -> ctx.fail(404));
    router.route().failureHandler(Problems::render);
  }

  /** Supports HEAD on routes that only read (RFC 9110 section 9.3.2). */
  private static void mount(
      Router router, Route route, KeylessChecks keyless, AccessRecords records, Tracer tracer) {
    boolean isTraced = tracer.isOn() && route.scope() != null && !route.isProbe();
    io.vertx.ext.web.Route mounted =
        router
            .route(route.method(), pattern(route.path()))
            .handler(
                ctx -> {
                  if (route.scope() != null) {
                    requireScope(ctx, route, records);
                  }
                  if (isTraced) {
                    RequestSpan.begin(ctx, tracer, route.name(), route.path());
                  }
                  serve(route, ctx, keyless);
                });
    if (route.isLookup()) {
      mounted.method(HEAD);
    }
  }

  private static void requireScope(RoutingContext ctx, Route route, AccessRecords records) {
    Principal caller = Callers.of(ctx);
    if (!caller.may(route.scope())) {
      records.refusedRequest(ctx, route.name());
    }
    caller.require(route.scope());
  }

  private static void serve(Route route, RoutingContext ctx, KeylessChecks keyless) {
    if (route.isGuarded()) {
      keyless
          .check(ctx)
          .<Void>map(
              passed -> {
                route.handler().handle(ctx);
                return null;
              })
          .onFailure(ctx::fail);
    } else {
      route.handler().handle(ctx);
    }
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

  private Routes add(HttpMethod method, String path, Scope scope, Handler<RoutingContext> handler) {
    table.add(new Route(method, path, scope, handler));
    return this;
  }
}
