package dev.mcpbridge.transport;

import dev.mcpbridge.config.UpstreamTarget;
import io.vertx.core.Context;
import io.vertx.core.Future;

/** Opens the transport for a configured upstream. */
@FunctionalInterface
public interface TransportFactory {

  /**
   * @param context the caller's context, on which the listener is called
   * @param name used in thread names and labels
   * @param log for what a process writes to stderr
   */
  Future<Transport> open(
      Context context,
      UpstreamTarget upstreamTarget,
      String name,
      StdioTransport.Limits limits,
      ServerLog log,
      TransportListener listener);

  /** The same for connections with a credential, where targets can have one. */
  default TransportFactory authorized(RequestAuthorization authorization) {
    return this;
  }
}
