package dev.mcpbridge.transport;

import dev.mcpbridge.config.Launch;
import dev.mcpbridge.config.Reach;
import dev.mcpbridge.config.Remote;
import io.vertx.core.Context;
import io.vertx.core.Future;

/** Opens the transport that a configuration asks for. */
public final class Transports {
  private Transports() {}

  /**
   * @param context where the listener is called; the caller's own
   * @param name for thread names
   */
  public static Future<Transport> open(
      Context context,
      Reach reach,
      String name,
      StdioTransport.Limits limits,
      TransportListener listener) {
    if (reach instanceof Launch launch) {
      return StdioTransport.start(context, launch, name, limits, listener);
    }
    Remote remote = (Remote) reach;
    HttpPeer peer = new HttpPeer(context.owner(), remote);
    return remote.kind() == Remote.Kind.SSE
        ? SseTransport.open(context, peer, limits, listener).onFailure(failed -> peer.close())
        : Future.succeededFuture(new StreamableHttpTransport(context, peer, limits, listener));
  }
}
