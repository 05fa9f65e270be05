package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.adapter.AdaptedTransport;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.config.Reach;
import dev.mcpbridge.transport.Opener;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Future;

/** Opens transports to HTTP APIs. */
public final class OpenApiServers implements Opener {
  @Override
  public Future<Transport> open(
      Context context,
      Reach reach,
      String name,
      StdioTransport.Limits limits,
      TransportListener listener) {
    OpenApiBackend backend =
        new OpenApiBackend(context.owner(), name, (OpenApiSource) reach, limits.maxMessageBytes());
    return Future.succeededFuture(new AdaptedTransport(context, backend, listener));
  }
}
