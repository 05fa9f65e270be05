package dev.mcpbridge.http;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.ArgumentSchemas;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.HttpConfig;
import dev.mcpbridge.http.openapi.DocsPage;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.http.rest.HealthApi;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.protocol.BridgeIdentity;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.CorsHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;

/**
 * Listens, and mounts what stands before the doors: addressed to us, preflight, body within bounds,
 * from somebody we know, JSON. Runs on one event loop; the doors and the pipeline are confined to
 * it.
 */
public final class HttpVerticle extends VerticleBase {
  private static final int MAX_URI = 8192;
  private static final int MAX_HEADERS = 16 * 1024;

  /** When who asks whether the bridge lives has been answered, and no server has told its tools. */
  private static final int WARM_UP_MILLIS = 500;

  private final Foundations foundations;
  private final BridgeConfig config;
  private final StreamSlots streams;
  private final CallerChecks callers;
  private volatile HealthApi.Phase phase = HealthApi.Phase.STARTING;
  private ConnectionGuard guard;
  private Opening opening;
  private HttpServer server;

  /** What it stands on. */
  public record Foundations(
      Bus bus,
      Cluster cluster,
      BridgeConfig config,
      BridgeIdentity self,
      MemoryBudget memory,
      Counts counts) {}

  public HttpVerticle(Foundations foundations) {
    this.foundations = foundations;
    this.config = foundations.config();
    this.streams = new StreamSlots(config.http().maxStreams());
    this.callers = new CallerChecks(ApiKeys.of(config.auth()));
  }

  @Override
  public Future<?> start() {
    guard = new ConnectionGuard(vertx, config.http(), config.limits(), foundations.memory());
    Router router = router(Doors.open(vertx, foundations, streams, () -> phase));
    server =
        vertx
            .createHttpServer(options(config.http()))
            .connectionHandler(guard::opened)
            .invalidRequestHandler(new InvalidRequests())
            .requestHandler(request -> accept(router, request));
    return server.listen().recover(e -> Future.failedFuture(cannotListen(e)));
  }

  private IOException cannotListen(Throwable cause) {
    return new IOException(
        config.http().host() + ":" + config.http().port() + ": " + cause.getMessage(), cause);
  }

  /** The servers have been told to start: from now on readiness is theirs to say. */
  public void opened() {
    phase = HealthApi.Phase.SERVING;
    context.runOnContext(v -> opening.over());
    vertx.setTimer(WARM_UP_MILLIS, t -> vertx.executeBlocking(ArgumentSchemas::warmUp, false));
  }

  /** The port that was bound. */
  public int port() {
    return server.actualPort();
  }

  /** Other keys from now on; may be called from any thread. */
  public void reload(AuthConfig auth) {
    callers.reload(ApiKeys.of(auth));
  }

  /** Says that it is not ready any more, and goes on to answer. */
  public void stopping() {
    phase = HealthApi.Phase.STOPPING;
  }

  /**
   * Says that it is not ready any more, ends the event streams and lets what runs come to an end.
   */
  public Future<Void> drain(Duration patience) {
    phase = HealthApi.Phase.STOPPING;
    context.runOnContext(v -> streams.endAll());
    return server.shutdown(patience);
  }

  private void accept(Router router, HttpServerRequest request) {
    guard.began(request, () -> router.handle(request));
  }

  private Router router(Doors doors) {
    Router router = Router.router(vertx);
    AddressChecks addresses = new AddressChecks(config.http());
    router.route().handler(addresses);
    if (!config.http().corsOrigins().isEmpty()) {
      CorsHandler cors = cors(config.http());
      router
          .route()
          .handler(
              ctx -> {
                if (addresses.isConfigured(ctx.request().getHeader("origin"))) {
                  ctx.response().putHeader("vary", "origin");
                  cors.handle(ctx);
                } else {
                  ctx.next();
                }
              });
    }
    DocsPage.mount(router);
    BodyHandler body = BodyHandler.create(false).setBodyLimit(config.limits().bodyBytes());
    router
        .route()
        .handler(
            ctx -> {
              callers.check(ctx);
              guard.admit(ctx);
              body.handle(ctx);
            });
    opening = foundations.cluster().isAlone() ? Opening.mount(router) : Opening.ofNode();
    Routes.of(doors).mount(router);
    return router;
  }

  private static CorsHandler cors(HttpConfig config) {
    CorsHandler cors = CorsHandler.create();
    config.corsOrigins().forEach(cors::addOrigin);
    return cors.allowedMethods(
            Set.of(HttpMethod.GET, HttpMethod.POST, HttpMethod.PUT, HttpMethod.DELETE))
        .allowedHeaders(
            Set.of(
                "accept",
                "authorization",
                "content-type",
                "idempotency-key",
                "if-none-match",
                "last-event-id",
                "mcp-method",
                "mcp-name",
                "mcp-protocol-version",
                "mcp-session-id",
                "prefer",
                "x-api-key",
                "x-upstream-authorization"))
        .exposedHeaders(
            Set.of("etag", "location", "mcp-session-id", "preference-applied", "retry-after"))
        .maxAgeSeconds(600);
  }

  private static HttpServerOptions options(HttpConfig config) {
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost(config.host())
            .setPort(config.port())
            .setHttp2ClearTextEnabled(false)
            .setUseAlpn(false)
            .setPerFrameWebSocketCompressionSupported(false)
            .setPerMessageWebSocketCompressionSupported(false)
            .setHandle100ContinueAutomatically(false)
            .setStrictThreadMode(true)
            .setMaxInitialLineLength(MAX_URI)
            .setMaxHeaderSize(MAX_HEADERS)
            .setAcceptBacklog(1024);
    if (config.tls() != null) {
      options
          .setSsl(true)
          .setKeyCertOptions(
              new PemKeyCertOptions()
                  .addCertPath(config.tls().certificate().toString())
                  .addKeyPath(config.tls().key().toString()));
    }
    return options;
  }
}
