package dev.mcpbridge.adapter;

import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.config.UpstreamTarget;
import dev.mcpbridge.transport.ServerLog;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportFactory;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Opens transports to services that do not speak MCP, through a backend for their kind.
 *
 * @param <T> how such a service is reached
 */
public final class AdaptedTransportFactory<T extends UpstreamTarget> implements TransportFactory {
  private final Class<T> type;
  private final Function<T, HttpAccess> access;
  private final BackendFactory<T> backends;
  private final BooleanSupplier mayAct;

  /** Creates the backend of one server. */
  public interface BackendFactory<T> {
    Backend create(Vertx vertx, String name, T target, HttpCaller http, int maxBody);
  }

  /**
   * @param mayAct whether requests may be sent at this moment
   */
  public AdaptedTransportFactory(
      Class<T> type,
      Function<T, HttpAccess> access,
      BackendFactory<T> backends,
      BooleanSupplier mayAct) {
    this.type = type;
    this.access = access;
    this.backends = backends;
    this.mayAct = mayAct;
  }

  @Override
  public Future<Transport> open(
      Context context,
      UpstreamTarget upstreamTarget,
      String name,
      StdioTransport.Limits limits,
      ServerLog log,
      TransportListener listener) {
    T target = type.cast(upstreamTarget);
    Vertx vertx = context.owner();
    HttpCaller http = new HttpCaller(vertx, access.apply(target), limits.memory(), mayAct);
    Backend backend = backends.create(vertx, name, target, http, limits.maxMessageBytes());
    return Future.succeededFuture(new AdaptedTransport(context, backend, listener));
  }
}
