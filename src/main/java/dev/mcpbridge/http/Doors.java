package dev.mcpbridge.http;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.ArgumentValidator;
import dev.mcpbridge.call.BackgroundCalls;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.DecidedCalls;
import dev.mcpbridge.call.Directory;
import dev.mcpbridge.call.IdempotencyKeys;
import dev.mcpbridge.call.OutputSchemaCheck;
import dev.mcpbridge.call.UpstreamCredentials;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.LimitsConfig;
import dev.mcpbridge.http.mcp.McpDoor;
import dev.mcpbridge.http.openapi.OpenApiDoor;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.http.rest.AccessApi;
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
import dev.mcpbridge.http.rest.ServersApi;
import dev.mcpbridge.http.rest.ToolCallsApi;
import dev.mcpbridge.http.rest.WhoamiApi;
import dev.mcpbridge.http.toolcall.ModelCalls;
import dev.mcpbridge.http.toolcall.ToolCallDoor;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.validation.SchemaValidator;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.util.function.UnaryOperator;

/** All doors, built around one call pipeline. */
record Doors(
    AccessControl access,
    AccessApi explanations,
    WhoamiApi whoami,
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
    MetricsApi metrics,
    McpDoor mcp,
    ToolCallDoor toolcall,
    OpenApiDoor documents,
    Handler<RoutingContext> openapi) {

  private static final String CONTRACT = "/dev/mcpbridge/http/openapi.json";

  static Doors open(
      Vertx vertx,
      HttpVerticle.Dependencies dependencies,
      StreamSlots streams,
      CallAnswers answers,
      HealthApi.Conditions conditions,
      UnaryOperator<Principal> renewed) {
    Bus bus = dependencies.bus();
    Cluster cluster = dependencies.cluster();
    BridgeConfig config = dependencies.config();
    int depth = config.limits().depth();
    Services services = Services.of(vertx, dependencies, renewed);
    Directory directory = services.directory();
    AccessControl access = services.access();
    CallPipeline pipeline = services.pipeline();
    CallIds ids = new CallIds();
    BackgroundCalls background =
        new BackgroundCalls(
            vertx,
            bus,
            pipeline,
            Clock.systemUTC(),
            cluster,
            dependencies.callerLimits().severalCallers());
    background.open();
    DecidedCalls decided = new DecidedCalls(vertx, bus, pipeline, background);
    IdempotencyKeys idempotency =
        IdempotencyKeys.open(
            Clock.systemUTC(), cluster, bus, dependencies.callerLimits().severalCallers());
    ToolCallsApi calls =
        new ToolCallsApi(
            bus,
            pipeline,
            ids,
            new ToolCallsApi.CallStores(idempotency, background, decided),
            streams,
            answers,
            depth);
    CatalogueCache catalogueCache = new CatalogueCache(vertx, directory, access);
    return new Doors(
        access,
        new AccessApi(access, depth),
        new WhoamiApi(access),
        calls,
        new BatchApi(pipeline, ids, answers, depth),
        new BackgroundCallsApi(background, answers),
        new ServersApi(bus, directory, access, depth),
        new CredentialsApi(access, services.credentials(), depth),
        new CatalogueApi(bus, access, services.schemas()),
        new ConfirmationsApi(bus, pipeline, decided, calls, answers, depth),
        new EventsApi(bus, access, streams),
        new HealthApi(directory, access, cluster, conditions),
        new ClusterApi(cluster),
        new MetricsApi(directory, access, cluster, dependencies.memory(), dependencies.counts()),
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
      UpstreamCredentials credentials,
      ArgumentValidator schemas,
      CallPipeline pipeline) {

    static Services of(
        Vertx vertx, HttpVerticle.Dependencies deps, UnaryOperator<Principal> renewed) {
      Directory directory = new Directory(deps.bus(), deps.cluster());
      AccessControl access =
          new AccessControl(directory, deps.counts(), deps.config().access(), renewed);
      directory.open();
      UpstreamCredentials credentials =
          new UpstreamCredentials(
              deps.cluster().key("credentials"), deps.cluster().map("credentials"));
      LimitsConfig.Validation limits = deps.config().limits().validation();
      SchemaValidator validator = new SchemaValidator(vertx, limits.steps(), limits.millis());
      ArgumentValidator schemas =
          new ArgumentValidator(validator, limits.refusesOverBudget(), deps.counts());
      OutputSchemaCheck outputs = new OutputSchemaCheck(validator, deps.bus(), deps.counts());
      return new Services(
          directory,
          access,
          credentials,
          schemas,
          new CallPipeline(
              deps.bus(),
              access,
              schemas,
              outputs,
              credentials,
              new CallPipeline.Limits(deps.memory(), deps.callerLimits().quotas()),
              deps.counts()));
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
