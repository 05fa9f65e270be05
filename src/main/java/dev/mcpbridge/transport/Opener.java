package dev.mcpbridge.transport;

import dev.mcpbridge.config.Reach;
import io.vertx.core.Context;
import io.vertx.core.Future;

/** Opens the transport that a configuration asks for. */
@FunctionalInterface
public interface Opener {

  /**
   * @param context where the listener is called; the caller's own
   * @param name for thread names and labels
   */
  Future<Transport> open(
      Context context,
      Reach reach,
      String name,
      StdioTransport.Limits limits,
      TransportListener listener);
}
