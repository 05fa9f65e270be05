package dev.mcpbridge.sandbox;

import dev.mcpbridge.config.Contained;
import dev.mcpbridge.config.Reach;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.transport.Opener;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;

/**
 * Starts servers in containers: created, attached, and only then started, so that not a byte is
 * missed. What fails on the way leaves no container behind.
 */
final class Containers implements Opener {
  private static final int CONNECT_MILLIS = 5_000;

  private final Engine engine;
  private final NetClient sockets;

  Containers(Vertx vertx, Engine engine) {
    this.engine = engine;
    this.sockets = vertx.createNetClient(new NetClientOptions().setConnectTimeout(CONNECT_MILLIS));
  }

  @Override
  public Future<Transport> open(
      Context context,
      Reach reach,
      String name,
      StdioTransport.Limits limits,
      TransportListener listener) {
    return start((Contained) reach, name, limits, listener).map(transport -> transport);
  }

  /** Called on the context that the listener is called on. */
  Future<ContainerTransport> start(
      Contained container,
      String server,
      StdioTransport.Limits limits,
      TransportListener listener) {
    return engine
        .image(container.image())
        .compose(image -> startable(container, image))
        .compose(
            image ->
                engine
                    .create(container, image, server)
                    .compose(
                        id ->
                            start(
                                new ContainerTransport(engine, image, id, limits, listener),
                                container.startMillis())));
  }

  private Future<ContainerTransport> start(ContainerTransport transport, long patienceMillis) {
    return Attachment.open(sockets, engine.address(), transport.id(), patienceMillis, transport)
        .onSuccess(transport::over)
        .compose(socket -> engine.start(transport.id()))
        .map(transport)
        .recover(
            failed ->
                engine.remove(transport.id()).transform(removed -> Future.failedFuture(failed)));
  }

  private static Future<Engine.Image> startable(Contained container, Engine.Image image) {
    return !container.command().isEmpty() || image.hasProgram()
        ? Future.succeededFuture(image)
        : Future.failedFuture(
            new BridgeException(
                ErrorCode.INVALID_SERVER,
                "The image '" + image.name() + "' names no program: add docker.command"));
  }
}
