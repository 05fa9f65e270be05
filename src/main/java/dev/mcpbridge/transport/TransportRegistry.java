package dev.mcpbridge.transport;

import dev.mcpbridge.config.ProcessTarget;
import dev.mcpbridge.config.RemoteTarget;
import dev.mcpbridge.config.UpstreamTarget;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Opens transports to child processes and remote servers; delegates other targets. */
public final class TransportRegistry implements TransportFactory {
  private final Map<Class<? extends UpstreamTarget>, TransportFactory> factories;
  private final BooleanSupplier mayAct;
  private final RequestAuthorization authorization;

  /**
   * @param factories factories for targets that are neither a process nor a URL, by target type
   * @param mayAct whether this bridge may send requests at this moment; called on any thread
   */
  public TransportRegistry(
      Map<Class<? extends UpstreamTarget>, TransportFactory> factories, BooleanSupplier mayAct) {
    this(Map.copyOf(factories), mayAct, RequestAuthorization.NONE);
  }

  private TransportRegistry(
      Map<Class<? extends UpstreamTarget>, TransportFactory> factories,
      BooleanSupplier mayAct,
      RequestAuthorization authorization) {
    this.factories = factories;
    this.mayAct = mayAct;
    this.authorization = authorization;
  }

  @Override
  public TransportFactory authorized(RequestAuthorization other) {
    return new TransportRegistry(factories, mayAct, other);
  }

  @Override
  public Future<Transport> open(
      Context context,
      UpstreamTarget upstreamTarget,
      String name,
      StdioTransport.Limits limits,
      ServerLog log,
      TransportListener listener) {
    if (upstreamTarget instanceof ProcessTarget processTarget) {
      return StdioTransport.start(context, processTarget, name, limits, log, mayAct, listener);
    }
    return upstreamTarget instanceof RemoteTarget remoteTarget
        ? remote(context, remoteTarget, limits, listener)
        : factories
            .get(upstreamTarget.getClass())
            .open(context, upstreamTarget, name, limits, log, listener);
  }

  private Future<Transport> remote(
      Context context,
      RemoteTarget remoteTarget,
      StdioTransport.Limits limits,
      TransportListener listener) {
    HttpPeer peer =
        new HttpPeer(context.owner(), remoteTarget, authorization, limits.memory(), mayAct);
    return remoteTarget.kind() == RemoteTarget.Kind.SSE
        ? SseTransport.open(context, peer, limits, listener).onFailure(failed -> peer.close())
        : Future.succeededFuture(new StreamableHttpTransport(context, peer, limits, listener));
  }
}
