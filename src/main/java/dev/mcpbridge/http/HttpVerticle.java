package dev.mcpbridge.http;

import dev.mcpbridge.auth.Authenticator;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.InProcess;
import dev.mcpbridge.call.PinnedDefinitions;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.http.reply.Compression;
import dev.mcpbridge.http.reply.MountPoint;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.http.rest.CallAnswers;
import dev.mcpbridge.http.rest.HealthApi;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.quota.CallerLimits;
import dev.mcpbridge.validation.SchemaValidator;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.CorsHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;

/**
 * The HTTP listener and the checks in front of all doors, in this order: Host and Origin, CORS
 * preflight, authentication, media type, body size. Runs on one event loop; the doors and the call
 * pipeline are confined to it.
 */
public final class HttpVerticle extends VerticleBase {
  /** Late enough for a first health check, early enough to precede the first tool list. */
  private static final int WARM_UP_MILLIS = 500;

  private static final CharSequence NOSNIFF_NAME =
      HttpHeaders.createOptimized("x-content-type-options");
  private static final CharSequence NOSNIFF = HttpHeaders.createOptimized("nosniff");
  private static final Set<HttpMethod> READ_METHODS = Set.of(HttpMethod.GET, HttpMethod.HEAD);

  private final Dependencies dependencies;
  private final BridgeConfig config;
  private volatile BridgeConfig current;
  private final StreamSlots streams;
  private final CallAnswers answers;
  private final BiPredicate<InetSocketAddress, InetSocketAddress> isOwnProcess;
  private volatile HealthApi.Phase phase = HealthApi.Phase.STARTING;
  private CallerChecks callers;
  private PinnedDefinitions pins;
  private CatalogueCache catalogues;
  private AddressChecks addresses;
  private CorsHandler cors;
  private Compression compression;
  private ConnectionGuard guard;
  private BodyHandler body;
  private Map<String, Handler<RoutingContext>> publicPages;
  private StartupGate startupGate;
  private Router router;
  private InProcess inProcess;
  private volatile HttpServer server;

  /**
   * @param callerLimits what bounds the calls of each caller
   */
  public record Dependencies(
      Bus bus,
      Cluster cluster,
      BridgeConfig config,
      CallerLimits callerLimits,
      BridgeIdentity self,
      MemoryBudget memory) {}

  /**
   * @param isOwnProcess whether a client, given its address and the listener's, is a process that
   *     this bridge has started; called on a thread that may block
   */
  public HttpVerticle(
      Dependencies dependencies, BiPredicate<InetSocketAddress, InetSocketAddress> isOwnProcess) {
    this.dependencies = dependencies;
    this.isOwnProcess = isOwnProcess;
    this.config = dependencies.config();
    this.current = config;
    this.streams =
        new StreamSlots(config.http().maxStreams(), dependencies.callerLimits().severalCallers());
    this.answers = new CallAnswers(config.risk().pendingStatus());
  }

  @Override
  public Future<?> start() {
    callers = CallerChecks.of(vertx, dependencies, this::url);
    compression = new Compression(vertx, config.http().compressed(), dependencies.memory());
    guard = new ConnectionGuard(vertx, config.http(), config.limits(), dependencies.memory());
    Doors doors =
        Doors.open(
            vertx, dependencies, streams, answers, conditions(), callers.identities(() -> current));
    pins = doors.pins();
    catalogues = doors.catalogues();
    inProcess = doors.inProcess();
    router = router(doors);
    return pins.store().open().compose(opened -> listen());
  }

  private Future<?> listen() {
    if (!config.http().listens()) {
      return Future.succeededFuture();
    }
    server =
        vertx
            .createHttpServer(ListenerOptions.of(config.http()))
            .connectionHandler(guard::opened)
            .invalidRequestHandler(new InvalidRequestHandler())
            .requestHandler(request -> guard.requestStarted(request, () -> router.handle(request)));
    return server.listen().recover(e -> Future.failedFuture(cannotListen(e)));
  }

  /** The routes of the bridge and their checks, for the router of another program. */
  public Router mountable() {
    return MountedRouter.of(
        vertx,
        router,
        new MountedRouter.Conditions(
            dependencies.bus().loop(),
            () -> current.auth().isRequired() || current.http().insecure(),
            () -> phase == HealthApi.Phase.STOPPING));
  }

  /** How the program that runs the bridge calls its tools. */
  public InProcess inProcess() {
    return inProcess;
  }

  private HealthApi.Conditions conditions() {
    return new HealthApi.Conditions(
        () -> phase, () -> callers.authenticator().unavailableIssuers());
  }

  private IOException cannotListen(Throwable cause) {
    return new IOException(
        "%s:%d: %s; choose another address with http.host and http.port, or serve --port"
            .formatted(config.http().host(), config.http().port(), cause.getMessage()),
        cause);
  }

  /** All servers are starting: readiness depends on them from now on. */
  public void serversStarting() {
    phase = HealthApi.Phase.SERVING;
    context.runOnContext(v -> startupGate.open());
    vertx.setTimer(WARM_UP_MILLIS, t -> vertx.executeBlocking(SchemaValidator::warmUp, false));
  }

  /** The URL of the listener; null without one. */
  public String url() {
    return server == null ? null : config.http().url(port());
  }

  /** The port that was bound; 0 without a listener. */
  public int port() {
    return server == null ? 0 : server.actualPort();
  }

  /**
   * Applies the settings that need no new listener: keys, access rules, profiles, host names,
   * origins and limits. Ends event streams of principals whose key was removed. May be called from
   * any thread.
   *
   * @return succeeds when all requests are judged by the new settings
   */
  public Future<Void> reload(BridgeConfig next) {
    current = next;
    answers.reload(next.risk().pendingStatus());
    guard.reload(next.http());
    compression.reload(next.http().compressed());
    Promise<Void> applied = Promise.promise();
    context.runOnContext(
        v -> {
          streams.reload(next.http().maxStreams());
          Authenticator before = callers.authenticator();
          callers.reload(next.auth());
          streams.endOf(principal -> !callers.authenticator().accepts(principal, before));
          addresses.reload(next.http());
          cors = CorsRules.of(next.http());
          pins.access().reload(next.access());
          catalogues.reload(next.profiles());
          pins.reload(next.pins());
          applied.complete();
        });
    return applied.future();
  }

  /** Reports not ready, and continues to serve requests. */
  public void stopping() {
    phase = HealthApi.Phase.STOPPING;
  }

  /** After {@link #stopping}: ends event streams and waits for requests until the timeout. */
  public Future<Void> drain(Duration timeout) {
    context.runOnContext(v -> streams.endAll());
    return (server == null ? Future.<Void>succeededFuture() : server.shutdown(timeout))
        .eventually(() -> pins.store().written())
        .eventually(() -> dependencies.bus().loop().call(callers.records()::finish));
  }

  private Router router(Doors doors) {
    Router all = Router.router(vertx);
    addresses = new AddressChecks(config.http());
    cors = CorsRules.of(config.http());
    body = BodyHandler.create(false).setBodyLimit(config.limits().bodyBytes());
    publicPages =
        PublicPages.of(
            dependencies.self(),
            config.http().console(),
            config.http().openHealth() ? ctx -> openHealth(ctx, doors.health()) : null);
    all.route().handler(this::checkAddress);
    all.route().handler(this::servePublicPageOrAdmit);
    startupGate =
        dependencies.cluster().isAlone() ? StartupGate.mount(all) : StartupGate.unmounted();
    KeylessChecks keyless = new KeylessChecks(vertx, isOwnProcess);
    Routes.of(doors)
        .mount(all, keyless, callers.records(), dependencies.bus().telemetry().tracer());
    return all;
  }

  /** Checks Host and Origin; adds {@code nosniff}, and CORS headers for configured origins. */
  private void checkAddress(RoutingContext ctx) {
    ctx.response().headers().set(NOSNIFF_NAME, NOSNIFF);
    compression.negotiate(ctx);
    addresses.check(ctx);
    if (cors != null && addresses.isConfigured(ctx.request().getHeader(HttpHeaders.ORIGIN))) {
      ctx.response().putHeader("vary", "origin");
      cors.handle(ctx);
    } else {
      ctx.next();
    }
  }

  /** One route for both: each further one costs every request. */
  private void servePublicPageOrAdmit(RoutingContext ctx) {
    String path = MountPoint.path(ctx);
    if (PublicPages.areMissing(ctx, path)) {
      ctx.fail(404);
      return;
    }
    if (path.startsWith(ProtectedResource.METADATA)) {
      callers.resource().describe(ctx);
      return;
    }
    Handler<RoutingContext> page = PublicPages.find(publicPages, ctx, path);
    if (page != null && READ_METHODS.contains(ctx.request().method())) {
      page.handle(ctx);
    } else if (Routes.needsNoCredential(path)) {
      receiveBody(ctx);
    } else {
      admit(ctx);
    }
  }

  /** Requires a known caller and a JSON body for which there is memory. */
  private void admit(RoutingContext ctx) {
    Future<Void> identified = callers.check(ctx);
    if (identified.succeeded()) {
      receiveBody(ctx);
    } else if (identified.failed()) {
      ctx.fail(identified.cause());
    } else {
      ctx.request().pause();
      identified
          .<Void>map(
              known -> {
                receiveBody(ctx);
                ctx.request().resume();
                return null;
              })
          .onFailure(ctx::fail);
    }
  }

  private void receiveBody(RoutingContext ctx) {
    guard.admit(ctx);
    body.handle(ctx);
  }

  /** A request with a key gets the details that its key allows. */
  private void openHealth(RoutingContext ctx, HealthApi health) {
    if (callers.lacksRequiredKey(ctx.request())) {
      health.brief(ctx);
    } else {
      admit(ctx);
    }
  }
}
