package dev.mcpbridge.http;

import dev.mcpbridge.auth.Authenticator;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.ArgumentValidator;
import dev.mcpbridge.call.BackgroundCalls;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CallerCredentials;
import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.ConsentTickets;
import dev.mcpbridge.call.DecidedCalls;
import dev.mcpbridge.call.Directory;
import dev.mcpbridge.call.IdempotencyKeys;
import dev.mcpbridge.call.OutputSchemaCheck;
import dev.mcpbridge.call.PinnedDefinitions;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.LimitsConfig;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.config.UpstreamTarget;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.credentials.UpstreamCredentials;
import dev.mcpbridge.http.connect.ConnectDoor;
import dev.mcpbridge.http.mcp.McpDoor;
import dev.mcpbridge.http.openapi.OpenApiDoor;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.http.rest.AccessApi;
import dev.mcpbridge.http.rest.AuditApi;
import dev.mcpbridge.http.rest.BackgroundCallsApi;
import dev.mcpbridge.http.rest.BatchApi;
import dev.mcpbridge.http.rest.CallAnswers;
import dev.mcpbridge.http.rest.CatalogueApi;
import dev.mcpbridge.http.rest.ClusterApi;
import dev.mcpbridge.http.rest.ConfirmationsApi;
import dev.mcpbridge.http.rest.CredentialsApi;
import dev.mcpbridge.http.rest.EventsApi;
import dev.mcpbridge.http.rest.HealthApi;
import dev.mcpbridge.http.rest.MetricsApi;
import dev.mcpbridge.http.rest.PinsApi;
import dev.mcpbridge.http.rest.ServersApi;
import dev.mcpbridge.http.rest.ToolCallsApi;
import dev.mcpbridge.http.rest.WhoamiApi;
import dev.mcpbridge.http.toolcall.ModelCalls;
import dev.mcpbridge.http.toolcall.ToolCallDoor;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.oauth.TokenExchange;
import dev.mcpbridge.pins.PinStore;
import dev.mcpbridge.pins.Pins;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.validation.SchemaValidator;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Clock;
import java.util.function.Supplier;

/** All doors, built around one call pipeline. */
record Doors(
    AccessApi explanations,
    WhoamiApi whoami,
    PinnedDefinitions pins,
    PinsApi pinsApi,
    AuditApi audit,
    ToolCallsApi calls,
    BatchApi batch,
    BackgroundCallsApi background,
    ServersApi servers,
    CredentialsApi credentials,
    CatalogueApi catalogue,
    ConfirmationsApi confirmations,
    EventsApi events,
    HealthApi health,
    ClusterApi cluster,
    ConnectDoor connect,
    MetricsApi metrics,
    McpDoor mcp,
    ToolCallDoor toolcall,
    OpenApiDoor documents,
    Handler<RoutingContext> openapi) {

  private static final String CONTRACT = "/dev/mcpbridge/http/openapi.json";

  /**
   * Who calls, and how the bridge is reached, by the present configuration.
   *
   * @param url of the bridge, as clients reach it
   */
  record Identities(
      Supplier<Authenticator> authenticator, Supplier<BridgeConfig> config, Supplier<String> url) {

    /** How a server is reached; null if it is not in the configuration. */
    UpstreamTarget target(ServerId server) {
      ServerConfig entry = config.get().servers().get(server);
      return entry == null ? null : entry.upstreamTarget();
    }

    /** What a server is reached by: its URL, or else its whole entry; empty if it is unknown. */
    String address(ServerId server) {
      ServerConfig entry = config.get().servers().get(server);
      if (entry == null) {
        return "";
      }
      URI url = entry.upstreamTarget().url();
      return url == null ? entry.programDigest() : url.toString();
    }

    /** Whether callers grant the bridge access to a server. */
    boolean grantsAccess(ServerId server) {
      UpstreamTarget target = target(server);
      return target != null && target.oauth() != null && target.oauth().needsConsent();
    }
  }

  static Doors open(
      Vertx vertx,
      HttpVerticle.Dependencies dependencies,
      StreamSlots streams,
      CallAnswers answers,
      HealthApi.Conditions conditions,
      Identities identities) {
    Bus bus = dependencies.bus();
    Cluster cluster = dependencies.cluster();
    BridgeConfig config = dependencies.config();
    int depth = config.limits().depth();
    Services services = Services.of(vertx, dependencies, identities);
    Directory directory = services.directory();
    AccessControl access = services.access();
    CallPipeline pipeline = services.pipeline();
    CallIds ids = new CallIds();
    BackgroundCalls background = background(vertx, dependencies, pipeline);
    DecidedCalls decided = new DecidedCalls(vertx, bus, pipeline, background);
    IdempotencyKeys idempotency =
        IdempotencyKeys.open(
            Clock.systemUTC(), cluster, bus, dependencies.callerLimits().severalCallers());
    ToolCallsApi.CallStores stores = new ToolCallsApi.CallStores(idempotency, background, decided);
    ToolCallsApi calls = new ToolCallsApi(bus, pipeline, ids, stores, streams, answers, depth);
    CatalogueCache catalogueCache = new CatalogueCache(vertx, directory, access);
    return new Doors(
        new AccessApi(access, depth),
        new WhoamiApi(access),
        services.pins(),
        new PinsApi(services.pins(), depth),
        new AuditApi(bus, cluster),
        calls,
        new BatchApi(pipeline, ids, answers, depth),
        new BackgroundCallsApi(background, answers),
        new ServersApi(bus, directory, access, depth),
        new CredentialsApi(bus, access, services.credentials(), identities::grantsAccess, depth),
        new CatalogueApi(bus, access, services.pins().pins(), services.schemas()),
        new ConfirmationsApi(bus, pipeline, decided, calls, answers, depth),
        new EventsApi(bus, access, streams),
        new HealthApi(directory, access, cluster, conditions),
        new ClusterApi(cluster),
        connect(services, cluster, identities),
        new MetricsApi(
            directory,
            services.pins().pins(),
            access,
            cluster,
            dependencies.memory(),
            bus.telemetry().counts()),
        new McpDoor(
            mcp(vertx, dependencies, services, decided, ids, streams),
            catalogueCache,
            dependencies.self(),
            depth),
        new ToolCallDoor(
            vertx,
            catalogueCache,
            new ModelCalls(pipeline, ids, idempotency, catalogueCache.lean(), depth)),
        new OpenApiDoor(vertx, catalogueCache),
        contract());
  }

  private static BackgroundCalls background(
      Vertx vertx, HttpVerticle.Dependencies dependencies, CallPipeline pipeline) {
    BackgroundCalls background =
        new BackgroundCalls(
            vertx,
            dependencies.bus(),
            pipeline,
            Clock.systemUTC(),
            dependencies.cluster(),
            dependencies.callerLimits().severalCallers());
    background.open();
    return background;
  }

  private static ConnectDoor connect(Services services, Cluster cluster, Identities identities) {
    return new ConnectDoor(
        services.consents(),
        CredentialStore.ofConsents(cluster),
        services.credentials(),
        identities.authenticator(),
        identities.config(),
        identities.url());
  }

  private static McpDoor.Dependencies mcp(
      Vertx vertx,
      HttpVerticle.Dependencies dependencies,
      Services services,
      DecidedCalls decided,
      CallIds ids,
      StreamSlots streams) {
    return new McpDoor.Dependencies(
        vertx,
        dependencies.bus(),
        dependencies.cluster(),
        services.directory(),
        services.access(),
        services.pipeline(),
        decided,
        ids,
        streams,
        sessions(dependencies),
        dependencies.config().http().sessions().idleMillis());
  }

  /** The services that the doors share. */
  private record Services(
      Directory directory,
      AccessControl access,
      ConsentTickets consents,
      UpstreamCredentials credentials,
      PinnedDefinitions pins,
      ArgumentValidator schemas,
      CallPipeline pipeline) {

    static Services of(Vertx vertx, HttpVerticle.Dependencies deps, Identities identities) {
      PinStore store =
          new PinStore(
              vertx, deps.cluster().map("pins"), deps.cluster(), deps.config().pins().file());
      Pins pins = new Pins(store, Clock.systemUTC(), deps.config().pins());
      Directory directory = new Directory(deps.bus(), deps.cluster(), pins);
      ConsentTickets consents =
          new ConsentTickets(
              vertx, deps.bus(), CredentialStore.ofConsents(deps.cluster()), identities.url());
      AccessControl access =
          new AccessControl(
              directory,
              consents,
              deps.bus().telemetry().counts(),
              deps.config().access(),
              earlier -> identities.authenticator().get().renewed(earlier));
      directory.open();
      UpstreamCredentials credentials =
          new UpstreamCredentials(
              CredentialStore.of(deps.config().credentials(), deps.cluster()), identities::address);
      LimitsConfig.Validation limits = deps.config().limits().validation();
      SchemaValidator validator = new SchemaValidator(vertx, limits.steps(), limits.millis());
      ArgumentValidator schemas =
          new ArgumentValidator(
              validator, limits.refusesOverBudget(), deps.bus().telemetry().counts());
      OutputSchemaCheck outputs =
          new OutputSchemaCheck(validator, deps.bus(), deps.bus().telemetry().counts());
      return new Services(
          directory,
          access,
          consents,
          credentials,
          new PinnedDefinitions(pins, store, directory, access, deps.bus()),
          schemas,
          new CallPipeline(
              deps.bus(),
              access,
              schemas,
              outputs,
              new CallerCredentials(
                  credentials, new TokenExchange(vertx, identities::target), consents),
              new CallPipeline.Limits(deps.memory(), deps.callerLimits().quotas(), pins),
              deps.bus().telemetry().counts()));
    }
  }

  private static Shares sessions(HttpVerticle.Dependencies dependencies) {
    int max = dependencies.config().http().sessions().max();
    return new Shares(
        new Shares.Limit("sessions", "http.maxSessions", max, 60_000),
        dependencies.callerLimits().severalCallers());
  }

  /** Serves the OpenAPI document of the bridge's own API, a static resource. */
  private static Handler<RoutingContext> contract() {
    try (InputStream in = Doors.class.getResourceAsStream(CONTRACT)) {
      JsonSlice document = JsonSlice.of(in.readAllBytes());
      return ctx -> Replies.json(ctx, 200, document);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
