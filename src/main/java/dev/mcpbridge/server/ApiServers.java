package dev.mcpbridge.server;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.cluster.SharedMap.Keep;
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
import java.util.Set;

/**
 * Servers that are started and stopped over the API: their definitions are known to all nodes, and
 * whichever node owns one runs it. Answers when that has come true. Confined to the supervisor's
 * context.
 */
final class ApiServers {
  private static final long STOP_MILLIS = 60_000;

  /** What a start takes beside the handshake. */
  private static final long PROCESS_MILLIS = 3_000;

  private final Bus bus;
  private final Cluster cluster;
  private final SharedMap shared;
  private final ServerDefinitions serverDefinitions;
  private final LocalServers localServers;

  /** What this node does meanwhile. */
  interface LocalServers {
    Set<ServerId> wanted();

    /** Says what a definition may ask for. */
    BridgeConfig operator();

    /** Done when a server of this node answers; null where it has none of that name. */
    Future<?> begun(ServerId id);

    /** Done when what is ending of a server on this node is gone; null where nothing is. */
    Future<Void> ending(ServerId id);
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

  /** Answers when its handshake is done; one that does not start is withdrawn. */
  Future<ServerView> start(JsonSlice definition) {
    ServerConfig server = read(definition, localServers.operator());
    ServerId id = server.id();
    boolean isTaken =
        localServers.wanted().stream().anyMatch(known -> known.name().equalsIgnoreCase(id.name()));
    if (isTaken) {
      return Future.failedFuture(exists(id));
    }
    if (server.refusal() != null) {
      return Future.failedFuture(
          new BridgeException(server.refusal().code(), server.refusal().reason()));
    }
    long timeout = Handshake.patienceMillis(server.supervision().startTimeout()) + PROCESS_MILLIS;
    return define(id, definition.toBytes())
        .compose(
            defined ->
                isReady(id, timeout)
                    .recover(
                        failure ->
                            lastWords(id)
                                .compose(
                                    words ->
                                        withdraw(id)
                                            .transform(withdrawn -> gone(id))
                                            .transform(
                                                gone ->
                                                    Future.failedFuture(
                                                        startFailure(failure, words))))));
  }

  /** What its process wrote to stderr, which only an administrator may start and may read. */
  private Future<String> lastWords(ServerId id) {
    return bus.request(Addresses.view(InstanceId.first(id)), id)
        .map(view -> view.lastError() == null ? "" : view.lastError().stderr())
        .otherwise("");
  }

  private Future<ServerView> isReady(ServerId id, long timeout) {
    return isThere(id, System.nanoTime() + timeout * 1_000_000)
        .compose(there -> bus.request(Addresses.ready(id), timeout));
  }

  /** Answers when its processes are gone, wherever they were. */
  Future<ServerId> stop(ServerId id) {
    boolean isElsewhere = !cluster.isAlone() && cluster.owners().isOwned(id);
    if (!localServers.wanted().contains(id) && !isElsewhere) {
      return Future.failedFuture(
          new BridgeException(ErrorCode.SERVER_NOT_FOUND, "Server '" + id + "' not found"));
    }
    return withdraw(id).compose(done -> gone(id)).map(id);
  }

  private Future<Change> define(ServerId id, byte[] definition) {
    return shared
        .put(id.name(), shared.known(id.name()).version(), definition, Long.MAX_VALUE, Keep.FIRM)
        .map(
            change -> {
              if (!change.isDone()) {
                throw change.isFull() ? full() : exists(id);
              }
              return change;
            });
  }

  /**
   * Nobody wants it any more, on any node. Whose definition was posted loses that; one of a file,
   * whichever node's that is, is said to be stopped.
   */
  private Future<Change> withdraw(ServerId id) {
    Item known = shared.known(id.name());
    boolean wasPosted =
        known.isThere() && known.value().length > 0 && !serverDefinitions.isFromFile(id);
    return wasPosted
        ? shared.remove(id.name(), known.version())
        : shared.put(
            id.name(), known.version(), ServerDefinitions.STOPPED, Long.MAX_VALUE, Keep.FIRM);
  }

  /**
   * It answers here, or some node has said that it can run it. One of the same name that has not
   * ended yet would answer in its place.
   */
  private Future<?> isThere(ServerId id, long untilNanos) {
    Future<?> begun = localServers.begun(id);
    if (begun != null) {
      return begun;
    }
    Future<Void> ending = localServers.ending(id);
    if (ending != null) {
      return ending.compose(gone -> isThere(id, untilNanos));
    }
    boolean isKnown = cluster.isAlone() || cluster.owners().knows(id);
    return isKnown || System.nanoTime() - untilNanos > 0
        ? Future.succeededFuture()
        : cluster.change().compose(changed -> isThere(id, untilNanos));
  }

  private Future<Void> gone(ServerId id) {
    Future<Void> ending = localServers.ending(id);
    return (ending == null ? Future.<Void>succeededFuture() : ending)
        .compose(gone -> goneElsewhere(id, System.nanoTime() + STOP_MILLIS * 1_000_000));
  }

  private Future<Void> goneElsewhere(ServerId id, long untilNanos) {
    if (cluster.isAlone() || !cluster.owners().isOwned(id)) {
      return Future.succeededFuture();
    }
    if (System.nanoTime() - untilNanos > 0) {
      return Future.failedFuture(
          new BridgeException(ErrorCode.DEADLINE_EXCEEDED, "Server '" + id + "' does not stop"));
    }
    return cluster.change().compose(changed -> goneElsewhere(id, untilNanos));
  }

  private static BridgeException full() {
    return new BridgeException(ErrorCode.OVERLOADED, "Too many servers are kept");
  }

  private static BridgeException exists(ServerId id) {
    return new BridgeException(
        ErrorCode.SERVER_EXISTS, "Server with ID '" + id + "' already exists");
  }

  /** For whoever starts a server its being down is not a state but the outcome. */
  private static Throwable startFailure(Throwable failure, String words) {
    if (!(failure instanceof BridgeException known)) {
      return failure;
    }
    boolean isDown = known.code() == ErrorCode.SERVER_UNAVAILABLE;
    boolean late = known.getMessage().contains("timed out");
    ErrorCode down = late ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.START_FAILED;
    return isDown || !words.isEmpty()
        ? new BridgeException(
            isDown ? down : known.code(), new LastError(known.getMessage(), words).whole())
        : known;
  }

  /** The failures that the original's API has come with its status and its sentence. */
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
