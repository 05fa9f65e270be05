package dev.mcpbridge.http;

import dev.mcpbridge.bus.Bus;
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
import dev.mcpbridge.http.toolcall.ModelCalls;
import dev.mcpbridge.http.toolcall.ToolCallDoor;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.validation.SchemaValidator;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Clock;

/** All doors, built around one call pipeline. */
record Doors(
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
      HealthApi.Conditions conditions) {
    Bus bus = dependencies.bus();
    Cluster cluster = dependencies.cluster();
    BridgeConfig config = dependencies.config();
    int depth = config.limits().depth();
    Services services = Services.of(vertx, dependencies);
    Directory directory = services.directory();
    CallPipeline pipeline = services.pipeline();
    CallIds ids = new CallIds();
    BackgroundCalls background =
        new BackgroundCalls(
            vertx, bus, pipeline, Clock.systemUTC(), cluster, dependencies.severalCallers());
    background.open();
    DecidedCalls decided = new DecidedCalls(vertx, bus, pipeline, background);
    IdempotencyKeys idempotency =
        IdempotencyKeys.open(Clock.systemUTC(), cluster, bus, dependencies.severalCallers());
    ToolCallsApi calls =
        new ToolCallsApi(
            bus,
            pipeline,
            ids,
            new ToolCallsApi.CallStores(idempotency, background, decided),
            streams,
            answers,
            depth);
    CatalogueCache catalogueCache = new CatalogueCache(vertx, directory);
    return new Doors(
        calls,
        new BatchApi(pipeline, ids, answers, depth),
        new BackgroundCallsApi(background, answers),
        new ServersApi(bus, directory, depth),
        new CredentialsApi(directory, services.credentials(), depth),
        new CatalogueApi(bus, directory, services.schemas()),
        new ConfirmationsApi(bus, pipeline, decided, calls, answers, depth),
        new EventsApi(bus, streams),
        new HealthApi(directory, cluster, conditions),
        new ClusterApi(cluster),
        new MetricsApi(directory, cluster, dependencies.memory(), dependencies.counts()),
        new McpDoor(
            new McpDoor.Dependencies(
                vertx,
                bus,
                cluster,
                directory,
                pipeline,
                decided,
                ids,
                streams,
                sessions(dependencies),
                config.http().sessions().idleMillis()),
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

  /** The services that the doors share. */
  private record Services(
      Directory directory,
      UpstreamCredentials credentials,
      ArgumentValidator schemas,
      CallPipeline pipeline) {

    static Services of(Vertx vertx, HttpVerticle.Dependencies deps) {
      Directory directory = new Directory(deps.bus(), deps.cluster());
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
          credentials,
          schemas,
          new CallPipeline(
              deps.bus(), directory, schemas, outputs, credentials, deps.memory(), deps.counts()));
    }
  }

  private static Shares sessions(HttpVerticle.Dependencies dependencies) {
    int max = dependencies.config().http().sessions().max();
    return new Shares(
        new Shares.Limit("sessions", "http.maxSessions", max, 60_000),
        dependencies.severalCallers());
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
