package dev.mcpbridge.http;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.ApprovalReviews;
import dev.mcpbridge.call.BackgroundCalls;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.DecidedCalls;
import dev.mcpbridge.call.IdempotencyKeys;
import dev.mcpbridge.call.InProcess;
import dev.mcpbridge.call.PinnedDefinitions;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.http.agent.AgentDoor;
import dev.mcpbridge.http.connect.ConnectDoor;
import dev.mcpbridge.http.console.ConsoleLogin;
import dev.mcpbridge.http.mcp.McpDoor;
import dev.mcpbridge.http.openapi.OpenApiDoor;
import dev.mcpbridge.http.reply.MountPoint;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.http.rest.AccessApi;
import dev.mcpbridge.http.rest.AuditApi;
import dev.mcpbridge.http.rest.BackgroundCallsApi;
import dev.mcpbridge.http.rest.BatchApi;
import dev.mcpbridge.http.rest.CallAnswers;
import dev.mcpbridge.http.rest.CallsApi;
import dev.mcpbridge.http.rest.CatalogueApi;
import dev.mcpbridge.http.rest.ClusterApi;
import dev.mcpbridge.http.rest.ConfirmationsApi;
import dev.mcpbridge.http.rest.CredentialsApi;
import dev.mcpbridge.http.rest.EventsApi;
import dev.mcpbridge.http.rest.HealthApi;
import dev.mcpbridge.http.rest.MetricsApi;
import dev.mcpbridge.http.rest.PinsApi;
import dev.mcpbridge.http.rest.ProfilesApi;
import dev.mcpbridge.http.rest.ServerLogApi;
import dev.mcpbridge.http.rest.ServersApi;
import dev.mcpbridge.http.rest.ToolCallsApi;
import dev.mcpbridge.http.rest.WhoamiApi;
import dev.mcpbridge.http.toolcall.ModelCalls;
import dev.mcpbridge.http.toolcall.ToolCallDoor;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Clock;

/** All doors, built around one call pipeline. */
record Doors(
    AccessApi explanations,
    WhoamiApi whoami,
    PinnedDefinitions pins,
    CatalogueCache catalogues,
    ProfilesApi profiles,
    PinsApi pinsApi,
    AuditApi audit,
    ToolCallsApi calls,
    BatchApi batch,
    BackgroundCallsApi background,
    CallsApi allCalls,
    ServersApi servers,
    ServerLogApi logs,
    CredentialsApi credentials,
    CatalogueApi catalogue,
    ConfirmationsApi confirmations,
    EventsApi events,
    HealthApi health,
    ClusterApi cluster,
    ConnectDoor connect,
    ConsoleLogin consoleLogin,
    MetricsApi metrics,
    McpDoor mcp,
    ToolCallDoor toolcall,
    AgentDoor agent,
    OpenApiDoor documents,
    Handler<RoutingContext> openapi,
    InProcess inProcess) {

  private static final String CONTRACT = "/dev/mcpbridge/http/openapi.json";

  static Doors open(
      Vertx vertx,
      HttpVerticle.Dependencies dependencies,
      StreamSlots streams,
      CallAnswers answers,
      HealthApi.Conditions conditions,
      Identities identities) {
    Bus bus = dependencies.bus();
    Cluster cluster = dependencies.cluster();
    int depth = dependencies.config().limits().depth();
    CallServices services = CallServices.of(vertx, dependencies, identities);
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
    CatalogueCache catalogueCache =
        new CatalogueCache(vertx, services.directory(), access, dependencies.config().profiles());
    ToolCallDoor toolcall =
        new ToolCallDoor(
            vertx,
            catalogueCache,
            new ModelCalls(pipeline, ids, idempotency, catalogueCache.lean(), depth));
    AgentDoor agent = agent(vertx, dependencies, toolcall, streams);
    return new Doors(
        new AccessApi(access, depth),
        new WhoamiApi(access, cluster, dependencies.self(), agent::offered),
        services.pins(),
        catalogueCache,
        new ProfilesApi(bus, access, catalogueCache, calls, depth),
        new PinsApi(services.pins(), depth),
        new AuditApi(bus, cluster),
        calls,
        new BatchApi(pipeline, ids, answers, depth),
        new BackgroundCallsApi(background, answers),
        new CallsApi(bus, cluster, new BackgroundCallsApi(background, answers)),
        servers(dependencies, services),
        new ServerLogApi(bus, access, streams),
        new CredentialsApi(bus, access, services.credentials(), identities::grantsAccess, depth),
        new CatalogueApi(bus, access, services.pins().pins(), services.schemas()),
        new ConfirmationsApi(
            bus,
            pipeline,
            new ApprovalReviews(bus, access, services.pins().pins()),
            decided,
            calls,
            answers,
            depth),
        new EventsApi(bus, access, streams),
        new HealthApi(services.directory(), access, cluster, conditions),
        new ClusterApi(cluster, bus),
        connect(services, cluster, identities),
        consoleLogin(dependencies, identities),
        metrics(dependencies, services),
        mcp(vertx, dependencies, services, catalogueCache, decided, ids, streams),
        toolcall,
        agent,
        new OpenApiDoor(vertx, catalogueCache),
        contract(),
        new InProcess(bus, access, catalogueCache, pipeline, decided, ids));
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

  private static ConsoleLogin consoleLogin(
      HttpVerticle.Dependencies dependencies, Identities identities) {
    return new ConsoleLogin(
        identities.authenticator(),
        identities.sessions(),
        identities.records(),
        identities.url(),
        dependencies.config().http().console());
  }

  private static AgentDoor agent(
      Vertx vertx,
      HttpVerticle.Dependencies dependencies,
      ToolCallDoor toolcall,
      StreamSlots streams) {
    return new AgentDoor(
        new AgentDoor.Dependencies(
            vertx,
            toolcall,
            streams,
            dependencies.bus().telemetry().tracer(),
            dependencies.config().limits().depth()),
        dependencies.config().agent(),
        dependencies.callerLimits().severalCallers());
  }

  private static MetricsApi metrics(HttpVerticle.Dependencies dependencies, CallServices services) {
    return new MetricsApi(
        services.directory(),
        services.pins().pins(),
        services.access(),
        dependencies.cluster(),
        dependencies.memory(),
        dependencies.bus().telemetry().counts());
  }

  private static ConnectDoor connect(
      CallServices services, Cluster cluster, Identities identities) {
    return new ConnectDoor(
        services.consents(),
        CredentialStore.ofConsents(cluster),
        services.credentials(),
        identities.authenticator(),
        identities.records(),
        identities.config(),
        identities.url());
  }

  private static McpDoor mcp(
      Vertx vertx,
      HttpVerticle.Dependencies dependencies,
      CallServices services,
      CatalogueCache catalogues,
      DecidedCalls decided,
      CallIds ids,
      StreamSlots streams) {
    return new McpDoor(
        new McpDoor.Dependencies(
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
            dependencies.config().http().sessions().idleMillis()),
        catalogues,
        dependencies.self(),
        dependencies.config().limits().depth());
  }

  private static ServersApi servers(HttpVerticle.Dependencies dependencies, CallServices services) {
    return new ServersApi(
        dependencies.bus(),
        services.directory(),
        services.access(),
        new Shares(ServersApi.STARTS, dependencies.callerLimits().severalCallers()),
        dependencies.config().limits().depth());
  }

  private static Shares sessions(HttpVerticle.Dependencies dependencies) {
    int max = dependencies.config().http().sessions().max();
    return new Shares(
        new Shares.Limit("sessions", "http.maxSessions", max, 60_000),
        dependencies.callerLimits().severalCallers());
  }

  /** The document with the server that its paths belong to, unless it is the root of a host. */
  private static JsonSlice mounted(JsonSlice document, RoutingContext ctx) {
    String prefix = MountPoint.prefix(ctx);
    return prefix.isEmpty()
        ? document
        : JsonObjects.with(
            document,
            "servers",
            new JsonWriter()
                .beginArray()
                .beginObject()
                .member("url", prefix)
                .endObject()
                .endArray()
                .toSlice());
  }

  /** Serves the OpenAPI document of the bridge's own API, a static resource. */
  private static Handler<RoutingContext> contract() {
    try (InputStream in = Doors.class.getResourceAsStream(CONTRACT)) {
      JsonSlice document = JsonSlice.of(in.readAllBytes());
      return ctx -> Replies.json(ctx, 200, mounted(document, ctx), Compressed.LISTS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
