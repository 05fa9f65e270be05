package dev.mcpbridge.session;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RpcMessage;
import io.vertx.core.Future;

/** Receives what an upstream sends on its own initiative; called on the session's context. */
public interface SessionListener {

  /** A notification that belongs to no request of the session. */
  void notificationReceived(RpcMessage notification);

  /**
   * The server has acknowledged a subscription opened by {@link Session#subscribe}.
   *
   * @param listening id of the subscription
   */
  default void subscriptionAcknowledged(long listening) {}

  /** A request of the server; a failure refuses it, with its message as the reason. */
  Future<JsonSlice> requestReceived(String method, JsonSlice params);

  /** Invalid lines; late responses, and notifications over the rate limit, that were dropped. */
  void lost(int garbageLines, int droppedMessages);

  /** The connection has ended; all pending requests have failed already. */
  void closed(String reason);
}
