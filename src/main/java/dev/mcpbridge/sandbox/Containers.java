package dev.mcpbridge.sandbox;

import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.transport.ServerLog;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;

/**
 * Starts servers in containers. A container is created, attached and only then started, so that no
 * output is lost. A failed start leaves no container behind.
 */
final class Containers {
  private static final int CONNECT_MILLIS = 5_000;

  private final ContainerEngine containerEngine;
  private final NetClient sockets;

  Containers(Vertx vertx, ContainerEngine containerEngine) {
    this.containerEngine = containerEngine;
    this.sockets = vertx.createNetClient(new NetClientOptions().setConnectTimeout(CONNECT_MILLIS));
  }

  /** Must be called on the listener's context. */
  Future<ContainerTransport> start(
      ContainerTarget container,
      String server,
      StdioTransport.Limits limits,
      ServerLog log,
      TransportListener listener) {
    return containerEngine
        .image(container.image())
        .compose(image -> startable(container, image))
        .compose(
            image ->
                containerEngine
                    .create(container, image, server)
                    .compose(
                        id ->
                            start(
                                new ContainerTransport(
                                    containerEngine, image, id, limits, log, listener),
                                container.startMillis())));
  }

  private Future<ContainerTransport> start(ContainerTransport transport, long timeoutMillis) {
    return Attachment.open(sockets, containerEngine.address(), transport, timeoutMillis)
        .onSuccess(transport::over)
        .compose(socket -> containerEngine.start(transport.id()))
        .map(transport)
        .recover(
            failed ->
                containerEngine
                    .remove(transport.id())
                    .transform(removed -> Future.failedFuture(failed)));
  }

  private static Future<ContainerEngine.Image> startable(
      ContainerTarget container, ContainerEngine.Image image) {
    return !container.command().isEmpty() || image.hasProgram()
        ? Future.succeededFuture(image)
        : Future.failedFuture(
            new BridgeException(
                ErrorCode.INVALID_SERVER,
                "The image '" + image.name() + "' defines no program: add docker.command"));
  }
}
