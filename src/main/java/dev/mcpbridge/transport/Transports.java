package dev.mcpbridge.transport;

import dev.mcpbridge.config.Launch;
import dev.mcpbridge.config.Reach;
import dev.mcpbridge.config.Remote;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Opens transports to child processes and to servers elsewhere, and leaves the rest to others. */
public final class Transports implements Opener {
  private final Map<Class<? extends Reach>, Opener> others;
  private final BooleanSupplier mayAct;

  /**
   * @param others for what is reached in other ways than by a process or a URL
   * @param mayAct whether this bridge may begin anything at this moment; asked by any thread
   */
  public Transports(Map<Class<? extends Reach>, Opener> others, BooleanSupplier mayAct) {
    this.mayAct = mayAct;
    this.others = Map.copyOf(others);
  }

  @Override
  public Future<Transport> open(
      Context context,
      Reach reach,
      String name,
      StdioTransport.Limits limits,
      TransportListener listener) {
    if (reach instanceof Launch launch) {
      return StdioTransport.start(context, launch, name, limits, mayAct, listener);
    }
    return reach instanceof Remote remote
        ? remote(context, remote, limits, listener)
        : others.get(reach.getClass()).open(context, reach, name, limits, listener);
  }

  private Future<Transport> remote(
      Context context, Remote remote, StdioTransport.Limits limits, TransportListener listener) {
    HttpPeer peer = new HttpPeer(context.owner(), remote, limits.memory(), mayAct);
    return remote.kind() == Remote.Kind.SSE
        ? SseTransport.open(context, peer, limits, listener).onFailure(failed -> peer.close())
        : Future.succeededFuture(new StreamableHttpTransport(context, peer, limits, listener));
  }
}
