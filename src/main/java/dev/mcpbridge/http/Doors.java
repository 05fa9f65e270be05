package dev.mcpbridge.http;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.ArgumentSchemas;
import dev.mcpbridge.call.BackgroundCalls;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.DecidedCalls;
import dev.mcpbridge.call.Directory;
import dev.mcpbridge.call.IdempotencyKeys;
import dev.mcpbridge.call.LeanDiscovery;
import dev.mcpbridge.call.Offers;
import dev.mcpbridge.call.OutputSchemas;
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
import java.util.function.Supplier;

/** Every door, put together around one pipeline. */
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
    MetricsApi metrics,
    McpDoor mcp,
    ToolCallDoor toolcall,
    OpenApiDoor documents,
    Handler<RoutingContext> openapi) {

  private static final String CONTRACT = "/dev/mcpbridge/http/openapi.json";

  static Doors open(
      Vertx vertx,
      HttpVerticle.Foundations foundations,
      StreamSlots streams,
      CallAnswers answers,
      Supplier<HealthApi.Phase> phase) {
    Bus bus = foundations.bus();
    Cluster cluster = foundations.cluster();
    BridgeConfig config = foundations.config();
    int depth = config.limits().depth();
    Inside inside = Inside.of(vertx, foundations);
    Directory directory = inside.directory();
    CallPipeline pipeline = inside.pipeline();
    CallIds ids = new CallIds();
    BackgroundCalls background =
        new BackgroundCalls(
            vertx, bus, pipeline, Clock.systemUTC(), cluster, foundations.severalCallers());
    background.open();
    DecidedCalls decided = new DecidedCalls(vertx, bus, pipeline, background);
    IdempotencyKeys idempotency =
        new IdempotencyKeys(Clock.systemUTC(), cluster, foundations.severalCallers());
    ToolCallsApi calls =
        new ToolCallsApi(
            bus,
            pipeline,
            ids,
            new ToolCallsApi.Ledgers(idempotency, background, decided),
            streams,
            answers,
            depth);
    Offers offers = new Offers(vertx, directory);
    return new Doors(
        calls,
        new BatchApi(pipeline, ids, answers, depth),
        new BackgroundCallsApi(background, answers),
        new ServersApi(bus, directory, depth),
        new CredentialsApi(directory, inside.credentials(), depth),
        new CatalogueApi(bus, directory, inside.schemas()),
        new ConfirmationsApi(bus, pipeline, decided, calls, answers, depth),
        new EventsApi(bus, streams),
        new HealthApi(directory, cluster, phase),
        new MetricsApi(directory, cluster, foundations.memory(), foundations.counts()),
        new McpDoor(
            new McpDoor.Foundations(
                vertx,
                bus,
                cluster,
                directory,
                pipeline,
                decided,
                ids,
                streams,
                sessions(foundations),
                config.http().sessions().idleMillis()),
            offers,
            foundations.self(),
            depth),
        new ToolCallDoor(
            vertx,
            offers,
            new ModelCalls(pipeline, ids, idempotency, new LeanDiscovery(vertx), depth)),
        new OpenApiDoor(vertx, offers),
        contract());
  }

  /** What the doors lead to. */
  private record Inside(
      Directory directory,
      UpstreamCredentials credentials,
      ArgumentSchemas schemas,
      CallPipeline pipeline) {

    static Inside of(Vertx vertx, HttpVerticle.Foundations on) {
      Directory directory = new Directory(on.bus(), on.cluster());
      directory.open();
      UpstreamCredentials credentials = new UpstreamCredentials(Clock.systemUTC());
      LimitsConfig.Validation limits = on.config().limits().validation();
      SchemaValidator validator = new SchemaValidator(vertx, limits.steps(), limits.millis());
      ArgumentSchemas schemas = new ArgumentSchemas(validator, limits.refuses(), on.counts());
      OutputSchemas outputs = new OutputSchemas(validator, on.bus(), on.counts());
      return new Inside(
          directory,
          credentials,
          schemas,
          new CallPipeline(
              on.bus(), directory, schemas, outputs, credentials, on.memory(), on.counts()));
    }
  }

  private static Shares sessions(HttpVerticle.Foundations foundations) {
    int max = foundations.config().http().sessions().max();
    return new Shares(
        new Shares.Limit("sessions", "http.maxSessions", max, 60_000),
        foundations.severalCallers());
  }

  /** The API's own description, as it stands in the resources. */
  private static Handler<RoutingContext> contract() {
    try (InputStream in = Doors.class.getResourceAsStream(CONTRACT)) {
      JsonSlice document = JsonSlice.of(in.readAllBytes());
      return ctx -> Replies.json(ctx, 200, document);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
