package dev.mcpbridge.adapter.toolcall;

import dev.mcpbridge.adapter.AdaptedTransport;
import dev.mcpbridge.adapter.HttpCaller;
import dev.mcpbridge.config.ToolCallSource;
import dev.mcpbridge.config.UpstreamTarget;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportFactory;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.function.BooleanSupplier;

/** Opens transports to function executors. */
public final class ToolCallTransportFactory implements TransportFactory {
  private final BooleanSupplier mayAct;

  /**
   * @param mayAct whether requests may be sent at this moment
   */
  public ToolCallTransportFactory(BooleanSupplier mayAct) {
    this.mayAct = mayAct;
  }

  @Override
  public Future<Transport> open(
      Context context,
      UpstreamTarget upstreamTarget,
      String name,
      StdioTransport.Limits limits,
      TransportListener listener) {
    ToolCallSource source = (ToolCallSource) upstreamTarget;
    HttpCaller http = new HttpCaller(context.owner(), source.access(), limits.memory(), mayAct);
    ToolCallBackend backend =
        new ToolCallBackend(context.owner(), name, source, http, limits.maxMessageBytes());
    return Future.succeededFuture(new AdaptedTransport(context, backend, listener));
  }
}
