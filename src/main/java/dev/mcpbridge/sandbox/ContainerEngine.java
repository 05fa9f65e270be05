package dev.mcpbridge.sandbox;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.CreateContainerCmd;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import com.github.dockerjava.api.command.InspectImageResponse;
import com.github.dockerjava.api.command.WaitContainerResultCallback;
import com.github.dockerjava.api.exception.DockerClientException;
import com.github.dockerjava.api.exception.DockerException;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.Container;
import com.github.dockerjava.api.model.HealthCheck;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.Info;
import com.github.dockerjava.api.model.Version;
import com.github.dockerjava.core.DefaultDockerClientConfig;
import com.github.dockerjava.core.DockerClientImpl;
import com.github.dockerjava.zerodep.ZerodepDockerHttpClient;
import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Client of the container engine: Docker or a compatible one. Requests run on dedicated worker
 * threads, so a slow engine does not block others; the client is created on first use.
 */
final class ContainerEngine {
  private static final int THREADS = 8;
  private static final int CONNECTIONS = 32;
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration RESPONSE = Duration.ofSeconds(30);
  private static final int STOP_SECONDS = 2;
  private static final long EXIT_SECONDS = 1;

  /** Names of the containers in use by this process; labels only identify the process. */
  private static final Set<String> IN_USE = ConcurrentHashMap.newKeySet();

  private final WorkerExecutor worker;
  private final Map<String, String> names = new ConcurrentHashMap<>();
  private final String address;
  private final Labels labels;
  private DockerClient client;
  private volatile EngineKind kind;

  /** An image of the engine, with the id to which its name resolves now. */
  record Image(String name, String id, Set<String> volumes, boolean hasProgram) {}

  /** How a container ended. */
  record End(boolean outOfMemory, long exitCode) {}

  ContainerEngine(Vertx vertx, String address, Labels labels) {
    this.worker = vertx.createSharedWorkerExecutor("mcp-sandbox", THREADS);
    this.address = address;
    this.labels = labels;
  }

  String address() {
    return address;
  }

  /** Properties of the engine, a line each. */
  Future<List<String>> describe() {
    return execute(
        () -> {
          Version version = client().versionCmd().exec();
          Info info = client().infoCmd().exec();
          return List.of(
              "engine: " + address,
              "version: " + version.getVersion() + " (API " + version.getApiVersion() + ")",
              "system: " + info.getOperatingSystem(),
              "runtimes: " + String.join(", ", info.getRuntimes().keySet()),
              "security: " + String.join(", ", info.getSecurityOptions()));
        });
  }

  /** Differences between the requested and the actual profile of a container; empty if none. */
  Future<List<String>> differences(String id, ContainerTarget requested, Image image) {
    return execute(
        () -> {
          InspectContainerResponse actual = client().inspectContainerCmd(id).exec();
          return Profile.differences(profile(requested, image), requested.user(), kind(), actual);
        });
  }

  /** Finds an image; fails with IMAGE_NOT_FOUND if it does not exist. Never pulls. */
  Future<Image> image(String name) {
    return execute(
        () -> {
          try {
            InspectImageResponse found = client().inspectImageCmd(name).exec();
            var config = found.getConfig();
            boolean hasProgram =
                config != null && (!isEmpty(config.getEntrypoint()) || !isEmpty(config.getCmd()));
            Set<String> volumes =
                config == null || config.getVolumes() == null
                    ? Set.of()
                    : Set.copyOf(config.getVolumes().keySet());
            return new Image(name, found.getId(), volumes, hasProgram);
          } catch (NotFoundException e) {
            throw new BridgeException(
                ErrorCode.IMAGE_NOT_FOUND,
                "The container engine has no image '" + name + "': pull or build it first");
          }
        });
  }

  /** Creates a container without starting it; returns its id. */
  Future<String> create(ContainerTarget container, Image image, String server) {
    String name = labels.name(server);
    IN_USE.add(name);
    return this.<String>execute(
            () -> {
              Mounts.check(container.mounts());
              checkNetwork(container.network());
              return creation(container, image, server).withName(name).exec().getId();
            })
        .onSuccess(id -> names.put(id, name))
        .onFailure(failed -> IN_USE.remove(name));
  }

  private CreateContainerCmd creation(ContainerTarget container, Image image, String server) {
    CreateContainerCmd create =
        client()
            .createContainerCmd(image.id())
            .withHostConfig(profile(container, image))
            .withUser(container.user())
            .withLabels(labels.of(server))
            .withEnv(environment(container))
            .withHealthcheck(new HealthCheck().withTest(List.of("NONE")))
            .withAttachStdin(true)
            .withAttachStdout(true)
            .withAttachStderr(true)
            .withStdinOpen(true)
            .withStdInOnce(true)
            .withTty(false);
    List<String> command = container.command();
    return command.isEmpty()
        ? create
        : create.withEntrypoint(command.subList(0, 1)).withCmd(command.subList(1, command.size()));
  }

  private HostConfig profile(ContainerTarget container, Image image) {
    return Profile.of(container, image.volumes(), kind());
  }

  /** Cached until a request fails to reach the engine, since another one may replace it. */
  private EngineKind kind() {
    EngineKind current = kind;
    if (current == null) {
      current = EngineKind.of(client().versionCmd().exec());
      kind = current;
    }
    return current;
  }

  /** Requires the exact name of a user-defined network; an engine accepts id prefixes, too. */
  private void checkNetwork(String network) {
    if (network.equals("none")) {
      return;
    }
    String found;
    try {
      found = client().inspectNetworkCmd().withNetworkId(network).exec().getName();
    } catch (NotFoundException e) {
      throw new BridgeException(
          ErrorCode.INVALID_SERVER, "The container engine has no network '" + network + "'");
    }
    if (!found.equals(network) || Set.of("bridge", "host").contains(found)) {
      throw new BridgeException(
          ErrorCode.INVALID_SERVER, "'" + network + "' is not the name of a user-defined network");
    }
  }

  Future<Void> start(String id) {
    return execute(() -> client().startContainerCmd(id).exec());
  }

  /** How a container ended. Waits for its exit, since its outputs may end a little earlier. */
  Future<End> end(String id) {
    return execute(
        () -> {
          awaitExit(id);
          ContainerState state = client().inspectContainerCmd(id).exec().getState();
          Long code = state.getExitCodeLong();
          return new End(Boolean.TRUE.equals(state.getOOMKilled()), code == null ? -1 : code);
        });
  }

  private void awaitExit(String id) {
    try {
      client()
          .waitContainerCmd(id)
          .exec(new WaitContainerResultCallback())
          .awaitStatusCode(EXIT_SECONDS, TimeUnit.SECONDS);
    } catch (DockerClientException stillRunning) {
      // it has closed its outputs but is still running
    }
  }

  /** Stops a container gracefully, unless it has stopped already, and removes it. */
  Future<Boolean> stop(String id) {
    return execute(() -> client().stopContainerCmd(id).withTimeout(STOP_SECONDS).exec())
        .transform(stopped -> remove(id));
  }

  /** Kills and removes a container; false if it did not exist. */
  Future<Boolean> remove(String id) {
    return execute(
            () -> {
              try {
                client().removeContainerCmd(id).withForce(true).withRemoveVolumes(true).exec();
                return true;
              } catch (NotFoundException e) {
                return false;
              }
            })
        .onComplete(done -> releaseName(id));
  }

  /** Releases the name; a container that could not be removed becomes an orphan. */
  private void releaseName(String id) {
    String name = names.remove(id);
    if (name != null) {
      IN_USE.remove(name);
    }
  }

  /** Containers of dead bridges on this machine, and own ones that could not be removed. */
  Future<List<String>> orphans() {
    return execute(
        () ->
            client()
                .listContainersCmd()
                .withShowAll(true)
                .withLabelFilter(List.of(Labels.SCOPE))
                .exec()
                .stream()
                .filter(this::isOrphan)
                .map(Container::getId)
                .toList());
  }

  private boolean isOrphan(Container container) {
    boolean isUsed =
        Stream.of(container.getNames()).map(name -> name.substring(1)).anyMatch(IN_USE::contains);
    return labels.isOrphan(container.getLabels()) || labels.isOwn(container.getLabels()) && !isUsed;
  }

  private synchronized DockerClient client() {
    if (client == null) {
      DefaultDockerClientConfig config =
          DefaultDockerClientConfig.createDefaultConfigBuilder()
              .withDockerHost(address)
              .withDockerTlsVerify(false)
              .build();
      client =
          DockerClientImpl.getInstance(
              config,
              new ZerodepDockerHttpClient.Builder()
                  .dockerHost(URI.create(address))
                  .maxConnections(CONNECTIONS)
                  .connectionTimeout(CONNECT)
                  .responseTimeout(RESPONSE)
                  .build());
    }
    return client;
  }

  private <T> Future<T> execute(Callable<T> request) {
    return worker.executeBlocking(request, false).recover(this::toBridgeFailure);
  }

  private <T> Future<T> toBridgeFailure(Throwable failure) {
    if (failure instanceof BridgeException) {
      return Future.failedFuture(failure);
    }
    if (failure instanceof DockerException refused && refused.getHttpStatus() > 0) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.ISOLATION_UNAVAILABLE,
              "The container engine refused: " + String.valueOf(refused.getMessage()).strip(),
              refused));
    }
    kind = null;
    return Future.failedFuture(
        new BridgeException(
                ErrorCode.ISOLATION_UNAVAILABLE,
                "No container engine answers at "
                    + address
                    + ": start Docker or Podman's service, or set sandbox.engine or DOCKER_HOST",
                failure)
            .withRetryAfter(5_000));
  }

  private static List<String> environment(ContainerTarget container) {
    return container.environment().entrySet().stream()
        .map(variable -> variable.getKey() + "=" + variable.getValue().reveal())
        .toList();
  }

  private static boolean isEmpty(String[] array) {
    return array == null || array.length == 0;
  }
}
