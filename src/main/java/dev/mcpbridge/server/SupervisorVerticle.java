package dev.mcpbridge.server;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigProblem;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.transport.Opener;
import dev.mcpbridge.transport.StdioTransport;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Deploys a {@link ServerVerticle} for each server that is wanted, replaces and removes them.
 * Servers of the configuration and servers of the API live side by side; a reload touches only the
 * former.
 */
public final class SupervisorVerticle extends VerticleBase {
  private static final Logger LOG = System.getLogger(SupervisorVerticle.class.getName());

  private final Bus bus;
  private final Opener opener;
  private final Companions companions;
  private final String version;
  private final Map<ServerId, Deployed> deployed = new LinkedHashMap<>();
  private BridgeConfig config;
  private Future<?> lastChange = Future.succeededFuture();

  /**
   * @param fromFile whether a reload may remove it
   * @param verticles its deployments, in the order in which they were made
   */
  private record Deployed(ServerConfig config, boolean fromFile, List<Future<String>> verticles) {}

  public SupervisorVerticle(
      Bus bus, BridgeConfig config, Opener opener, Companions companions, String version) {
    this.bus = bus;
    this.config = config;
    this.opener = opener;
    this.companions = companions;
    this.version = version;
  }

  @Override
  public Future<?> start() {
    bus.serve(Addresses.START_SERVER, this::startAtRunTime);
    bus.serve(Addresses.STOP_SERVER, this::stopServer);
    return Future.all(config.servers().values().stream().map(s -> deploy(s, true)).toList());
  }

  @Override
  public Future<?> stop() {
    return Future.join(List.copyOf(deployed.keySet()).stream().map(this::undeploy).toList())
        .otherwiseEmpty();
  }

  /** Applies another configuration; servers whose entries did not change are not touched. */
  public Future<Void> reload(BridgeConfig next) {
    Promise<Void> promise = Promise.promise();
    context.runOnContext(v -> oneAfterTheOther(() -> apply(next)).onComplete(promise));
    return promise.future();
  }

  private Future<Void> apply(BridgeConfig next) {
    Map<ServerId, ServerConfig> before = new LinkedHashMap<>();
    deployed.forEach(
        (id, server) -> {
          if (server.fromFile()) {
            before.put(id, server.config());
          }
        });
    ServerPlan plan = ServerPlan.of(before, next.servers());
    config = next;
    if (plan.isEmpty()) {
      return Future.succeededFuture();
    }
    LOG.log(Level.INFO, "configuration reloaded: {0}", plan);
    List<ServerId> leaving = new ArrayList<>(plan.removals());
    List<ServerConfig> coming = new ArrayList<>(plan.replacements());
    plan.replacements().forEach(replaced -> leaving.add(replaced.id()));
    coming.addAll(plan.additions());
    return Future.join(leaving.stream().map(this::undeploy).toList())
        .otherwiseEmpty()
        .compose(gone -> Future.join(coming.stream().map(s -> deploy(s, true)).toList()))
        .mapEmpty();
  }

  private Future<ServerView> startAtRunTime(JsonSlice definition) {
    ServerConfig server = understand(definition);
    boolean taken =
        deployed.keySet().stream().anyMatch(id -> id.name().equalsIgnoreCase(server.id().name()));
    if (taken) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.SERVER_EXISTS, "Server with ID '" + server.id() + "' already exists"));
    }
    if (server.refusal() != null) {
      return Future.failedFuture(
          new BridgeException(server.refusal().code(), server.refusal().reason()));
    }
    long timeout = server.supervision().startTimeout() + 1_000;
    return deploy(server, false)
        .compose(id -> bus.request(Addresses.ready(server.id()), timeout))
        .recover(
            failure ->
                undeploy(server.id())
                    .transform(gone -> Future.failedFuture(startFailure(failure))));
  }

  private Future<ServerId> stopServer(ServerId id) {
    if (!deployed.containsKey(id)) {
      return Future.failedFuture(
          new BridgeException(ErrorCode.SERVER_NOT_FOUND, "Server '" + id + "' not found"));
    }
    return undeploy(id).map(id);
  }

  private Future<String> deploy(ServerConfig server, boolean fromFile) {
    List<Future<String>> verticles = new ArrayList<>();
    companions
        .of(server, limits(), config.drainMillis())
        .map(vertx::deployVerticle)
        .ifPresent(verticles::add);
    verticles.add(
        vertx.deployVerticle(
            new ServerVerticle(bus, server, opener, limits(), version, config.drainMillis())));
    deployed.put(server.id(), new Deployed(server, fromFile, verticles));
    return verticles.get(verticles.size() - 1);
  }

  private Future<Void> undeploy(ServerId id) {
    Deployed server = deployed.remove(id);
    return server == null
        ? Future.succeededFuture()
        : Future.join(
                server.verticles().stream().map(done -> done.compose(vertx::undeploy)).toList())
            .mapEmpty();
  }

  private Future<Void> oneAfterTheOther(Supplier<Future<Void>> change) {
    Future<Void> next = lastChange.transform(done -> change.get());
    lastChange = next;
    return next;
  }

  private StdioTransport.Limits limits() {
    int message = config.limits().messageBytes();
    return new StdioTransport.Limits(message, config.limits().depth() + 10, 2 * message);
  }

  /** For whoever starts a server its being down is not a state but the outcome. */
  private static Throwable startFailure(Throwable failure) {
    if (failure instanceof BridgeException known && known.code() == ErrorCode.SERVER_UNAVAILABLE) {
      boolean late = known.getMessage().contains("timed out");
      return new BridgeException(
          late ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.START_FAILED, known.getMessage());
    }
    return failure;
  }

  /** The failures that the original's API has come with its status and its sentence. */
  private ServerConfig understand(JsonSlice definition) {
    try {
      JsonNode body = Json.tree(definition);
      if (!body.hasNonNull("id") || !body.hasNonNull("command")) {
        throw new BridgeException(
            ErrorCode.MALFORMED_REQUEST, "Server ID and command are required");
      }
      return ConfigReader.readServer(body, config.sandbox());
    } catch (IOException e) {
      throw new BridgeException(ErrorCode.MALFORMED_REQUEST, "The body is not valid JSON");
    } catch (ConfigException e) {
      throw refusal(e);
    }
  }

  private static BridgeException refusal(ConfigException e) {
    List<String> paths = e.problems().stream().map(ConfigProblem::path).toList();
    List<String> all = e.problems().stream().map(ConfigProblem::toString).toList();
    boolean inContract = paths.contains("riskLevel") || paths.contains("docker.image");
    return new BridgeException(
            inContract ? ErrorCode.MALFORMED_REQUEST : ErrorCode.INVALID_SERVER, e.getMessage())
        .with("errors", all);
  }
}
