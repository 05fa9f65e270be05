package dev.mcpbridge.transport;

import dev.mcpbridge.config.UpstreamTarget;
import io.vertx.core.Context;
import io.vertx.core.Future;

/** Opens the transport that a configuration asks for. */
@FunctionalInterface
public interface TransportFactory {

  /**
   * @param context where the listener is called; the caller's own
   * @param name for thread names and labels
   */
  Future<Transport> open(
      Context context,
      UpstreamTarget upstreamTarget,
      String name,
      StdioTransport.Limits limits,
      TransportListener listener);
}
