package dev.mcpbridge.http.rest;

import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.Directory;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.MountPoint;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.ext.web.RoutingContext;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

/** Health in the original's format, but with actual states; liveness and readiness. */
public final class HealthApi {
  private static final String READY = "ready";
  private static final JsonSlice ALIVE = JsonSlice.of("{\"status\":\"ok\"}");

  private final Directory directory;
  private final AccessControl access;
  private final Cluster cluster;
  private final Conditions conditions;
  private final long startNanos = System.nanoTime();

  /** The lifecycle of the bridge. */
  public enum Phase {
    STARTING,
    SERVING,
    STOPPING
  }

  /**
   * What else the health depends on, at this moment.
   *
   * @param unavailableIssuers names of issuers of tokens that cannot be reached
   */
  public record Conditions(Supplier<Phase> phase, Supplier<List<String>> unavailableIssuers) {}

  public HealthApi(
      Directory directory, AccessControl access, Cluster cluster, Conditions conditions) {
    this.access = access;
    this.directory = directory;
    this.cluster = cluster;
    this.conditions = conditions;
  }

  /** GET /health: always 200; about the servers that the caller sees. */
  public void health(RoutingContext ctx) {
    Collection<ServerView> servers = access.all(Callers.of(ctx));
    JsonWriter out =
        new JsonWriter(1024)
            .beginObject()
            .member("status", status(servers))
            .member("uptime", uptime())
            .member("serverCount", servers.size())
            .name("servers")
            .beginArray();
    servers.forEach(server -> out.value(ServerJson.brief(server)));
    out.endArray();
    writeIssuers(out);
    Replies.json(ctx, 200, out.endObject());
  }

  /** The same routes for callers without a key: the status without details. */
  public void brief(RoutingContext ctx) {
    String path = MountPoint.path(ctx);
    String status =
        switch (path) {
          case "/health/live" -> "ok";
          case "/health/ready" -> readiness();
          default -> status(directory.all());
        };
    boolean isUp = !path.equals("/health/ready") || status.equals(READY);
    JsonWriter out = new JsonWriter().beginObject().member("status", status).endObject();
    Replies.json(ctx, isUp ? 200 : 503, out);
  }

  /** GET /health/live: 200 if the process responds. */
  public void live(RoutingContext ctx) {
    Replies.json(ctx, 200, ALIVE);
  }

  /**
   * GET /health/ready: 503 while servers start for the first time, while the bridge stops, and
   * while the node is not a member of its cluster.
   */
  public void ready(RoutingContext ctx) {
    String status = readiness();
    JsonWriter out = new JsonWriter().beginObject().member("status", status);
    writeIssuers(out);
    if (!cluster.isAlone()) {
      out.name("cluster");
      ClusterApi.write(out, cluster.view());
    }
    Replies.json(ctx, status.equals(READY) ? 200 : 503, out.endObject());
  }

  /** A bridge whose issuer cannot be reached goes on with the keys and verdicts that it has. */
  private void writeIssuers(JsonWriter out) {
    List<String> unavailable = conditions.unavailableIssuers().get();
    if (!unavailable.isEmpty()) {
      out.name("unavailable_issuers").beginArray();
      unavailable.forEach(out::value);
      out.endArray();
    }
  }

  private String readiness() {
    if (conditions.phase().get() == Phase.STOPPING) {
      return "stopping";
    }
    boolean isMember = cluster.isAlone() || cluster.view().state().equals("member");
    boolean isStarting =
        conditions.phase().get() == Phase.STARTING
            || !isMember
            || directory.all().stream()
                .anyMatch(s -> !s.isDiscovered() && s.state() instanceof ServerState.Starting);
    return isStarting ? "starting" : READY;
  }

  private JsonSlice uptime() {
    long millis = (System.nanoTime() - startNanos) / 1_000_000;
    return JsonSlice.of(BigDecimal.valueOf(millis, 3).toPlainString());
  }

  private static String status(Collection<ServerView> servers) {
    long down =
        servers.stream()
            .filter(
                s ->
                    s.state() instanceof ServerState.Failed
                        || s.state() instanceof ServerState.Refused)
            .count();
    if (down == 0) {
      return "ok";
    }
    return down == servers.size() ? "down" : "degraded";
  }
}
