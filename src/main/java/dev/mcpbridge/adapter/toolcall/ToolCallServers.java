package dev.mcpbridge.adapter.toolcall;

import dev.mcpbridge.adapter.AdaptedTransport;
import dev.mcpbridge.config.Reach;
import dev.mcpbridge.config.ToolCallSource;
import dev.mcpbridge.transport.Opener;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Future;

/** Opens transports to executors of function calls. */
public final class ToolCallServers implements Opener {
  @Override
  public Future<Transport> open(
      Context context,
      Reach reach,
      String name,
      StdioTransport.Limits limits,
      TransportListener listener) {
    ToolCallBackend backend =
        new ToolCallBackend(
            context.owner(), name, (ToolCallSource) reach, limits.maxMessageBytes());
    return Future.succeededFuture(new AdaptedTransport(context, backend, listener));
  }
}
