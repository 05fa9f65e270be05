package dev.mcpbridge.server;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigProblem;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.LastError;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.session.Handshake;
import io.vertx.core.Future;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Starts and stops servers through the API. Their definitions are shared with all nodes; the node
 * that owns a server runs it. Each operation completes when its effect is visible. Confined to the
 * supervisor's context.
 */
final class ApiServers {
  private static final long STOP_MILLIS = 60_000;

  /** Time allowed for starting the process, in addition to the handshake. */
  private static final long PROCESS_MILLIS = 3_000;

  private final Bus bus;
  private final Cluster cluster;
  private final SharedMap shared;
  private final ServerDefinitions serverDefinitions;
  private final LocalServers localServers;

  /** The servers that run on this node. */
  interface LocalServers {
    Set<ServerId> servers();

    /** The configuration that decides which definitions are accepted. */
    BridgeConfig operator();

    /** Completes when the server is deployed on this node; null if this node has no such server. */
    Future<?> deployed(ServerId id);

    /** Completes when the instances that are stopping on this node have ended; null if none is. */
    Future<Void> stopping(ServerId id);
  }

  ApiServers(
      Bus bus,
      Cluster cluster,
      SharedMap shared,
      ServerDefinitions serverDefinitions,
      LocalServers localServers) {
    this.bus = bus;
    this.cluster = cluster;
    this.shared = shared;
    this.serverDefinitions = serverDefinitions;
    this.localServers = localServers;
  }

  /** Completes when the handshake is done. A server that does not start is removed again. */
  Future<ServerView> start(JsonSlice definition) {
    ServerConfig server = read(definition, localServers.operator());
    ServerId id = server.id();
    boolean isTaken =
        localServers.servers().stream()
            .anyMatch(existing -> existing.name().equalsIgnoreCase(id.name()));
    if (isTaken) {
      return Future.failedFuture(exists(id));
    }
    if (server.refusal() != null) {
      return Future.failedFuture(
          new BridgeException(server.refusal().code(), server.refusal().reason()));
    }
    long timeout =
        Handshake.maxDurationMillis(server.supervision().startTimeout()) + PROCESS_MILLIS;
    return define(id, definition.toBytes())
        .compose(
            defined ->
                awaitReady(id, timeout)
                    .recover(
                        failure ->
                            view(id)
                                .compose(
                                    view ->
                                        withdraw(id)
                                            .transform(withdrawn -> awaitStopped(id))
                                            .transform(
                                                gone ->
                                                    Future.failedFuture(
                                                        startFailure(failure, view))))));
  }

  private Future<Optional<ServerView>> view(ServerId id) {
    return bus.request(Addresses.view(InstanceId.first(id)), id)
        .map(Optional::of)
        .otherwise(Optional.empty());
  }

  private Future<ServerView> awaitReady(ServerId id, long timeout) {
    return awaitDeployed(id, System.nanoTime() + timeout * 1_000_000)
        .compose(deployed -> bus.request(Addresses.ready(id), timeout));
  }

  /** Completes when the processes of the server have ended, on whichever node they run. */
  Future<ServerId> stop(ServerId id) {
    boolean isElsewhere = !cluster.isAlone() && cluster.owners().isOwned(id);
    if (!localServers.servers().contains(id) && !isElsewhere) {
      return Future.failedFuture(
          new BridgeException(ErrorCode.SERVER_NOT_FOUND, "Server '" + id + "' not found"));
    }
    return withdraw(id).compose(done -> awaitStopped(id)).map(id);
  }

  private Future<Change> define(ServerId id, byte[] definition) {
    return shared
        .put(
            id.name(),
            shared.cached(id.name()).version(),
            definition,
            Long.MAX_VALUE,
            Eviction.NEVER)
        .map(
            change -> {
              if (!change.isDone()) {
                throw change.isFull() ? full() : exists(id);
              }
              return change;
            });
  }

  /**
   * Withdraws a server on all nodes. A definition that came over the API is removed; a server from
   * a configuration file, of any node, is marked as stopped.
   */
  private Future<Change> withdraw(ServerId id) {
    Item item = shared.cached(id.name());
    boolean wasPosted =
        item.isPresent() && item.value().length > 0 && !serverDefinitions.isFromFile(id);
    return wasPosted
        ? shared.remove(id.name(), item.version())
        : shared.put(
            id.name(), item.version(), ServerDefinitions.STOPPED, Long.MAX_VALUE, Eviction.NEVER);
  }

  /**
   * Completes when the server is deployed on this node or another node has declared that it can run
   * it. Waits for an earlier server of the same name to end first, because it would answer instead.
   */
  private Future<?> awaitDeployed(ServerId id, long untilNanos) {
    Future<?> begun = localServers.deployed(id);
    if (begun != null) {
      return begun;
    }
    Future<Void> ending = localServers.stopping(id);
    if (ending != null) {
      return ending.compose(gone -> awaitDeployed(id, untilNanos));
    }
    boolean hasCandidate = cluster.isAlone() || cluster.owners().knows(id);
    return hasCandidate || System.nanoTime() - untilNanos > 0
        ? Future.succeededFuture()
        : cluster.change().compose(changed -> awaitDeployed(id, untilNanos));
  }

  private Future<Void> awaitStopped(ServerId id) {
    Future<Void> ending = localServers.stopping(id);
    return (ending == null ? Future.<Void>succeededFuture() : ending)
        .compose(gone -> awaitReleased(id, System.nanoTime() + STOP_MILLIS * 1_000_000));
  }

  private Future<Void> awaitReleased(ServerId id, long untilNanos) {
    if (cluster.isAlone() || !cluster.owners().isOwned(id)) {
      return Future.succeededFuture();
    }
    if (System.nanoTime() - untilNanos > 0) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.DEADLINE_EXCEEDED, "Server '" + id + "' did not stop in time"));
    }
    return cluster.change().compose(changed -> awaitReleased(id, untilNanos));
  }

  private static BridgeException full() {
    return new BridgeException(ErrorCode.OVERLOADED, "The limit of server definitions is reached");
  }

  private static BridgeException exists(ServerId id) {
    return new BridgeException(
        ErrorCode.SERVER_EXISTS, "Server with ID '" + id + "' already exists");
  }

  /** To the caller that starts a server, its being down is the outcome and not a state. */
  private static Throwable startFailure(Throwable failure, Optional<ServerView> view) {
    if (!(failure instanceof BridgeException error)) {
      return failure;
    }
    // Only administrators may start a server, so they may see what it wrote to stderr.
    String stderr = view.map(ServerView::lastError).map(LastError::stderr).orElse("");
    boolean isDown = error.code() == ErrorCode.SERVER_UNAVAILABLE;
    boolean isLate = view.filter(ServerView::hasTimedOut).isPresent();
    ErrorCode down = isLate ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.START_FAILED;
    return isDown || !stderr.isEmpty()
        ? new BridgeException(
            isDown ? down : error.code(), new LastError(error.getMessage(), stderr).describe())
        : error;
  }

  /** The errors of the original API keep its status codes and messages. */
  private static ServerConfig read(JsonSlice definition, BridgeConfig operator) {
    try {
      JsonNode body = Json.tree(definition);
      if (!body.hasNonNull("id") || !body.hasNonNull("command")) {
        throw new BridgeException(
            ErrorCode.MALFORMED_REQUEST, "Server ID and command are required");
      }
      return ConfigReader.readServer(body, operator);
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
