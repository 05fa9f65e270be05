package dev.mcpbridge.adapter;

import dev.mcpbridge.config.UpstreamTarget;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.transport.ServerLog;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportFactory;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;

/**
 * Opens transports to services that do not speak MCP, through a backend for their kind.
 *
 * @param <T> how such a service is reached
 */
public final class AdaptedTransportFactory<T extends UpstreamTarget> implements TransportFactory {
  private final Class<T> type;
  private final BackendFactory<T> backends;

  /** Creates the backend of one server. */
  public interface BackendFactory<T> {
    Backend create(Vertx vertx, String name, T target, MemoryBudget memory, int maxBody);
  }

  public AdaptedTransportFactory(Class<T> type, BackendFactory<T> backends) {
    this.type = type;
    this.backends = backends;
  }

  @Override
  public Future<Transport> open(
      Context context,
      UpstreamTarget upstreamTarget,
      String name,
      StdioTransport.Limits limits,
      ServerLog log,
      TransportListener listener) {
    Backend backend =
        backends.create(
            context.owner(),
            name,
            type.cast(upstreamTarget),
            limits.memory(),
            limits.maxMessageBytes());
    return Future.succeededFuture(new AdaptedTransport(context, backend, listener));
  }
}
