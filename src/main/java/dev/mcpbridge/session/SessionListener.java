package dev.mcpbridge.session;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RpcMessage;
import io.vertx.core.Future;

/** What an upstream says unasked; called on the session's context. */
public interface SessionListener {

  /** A notification that belongs to no request of ours. */
  void notified(RpcMessage notification);

  /**
   * The server tells what was asked for by {@link Session#listen} from now on.
   *
   * @param listening its id
   */
  default void agreed(long listening) {}

  /** A request of the server; a failure is a refusal, and its message says why. */
  Future<JsonSlice> asked(String method, JsonSlice params);

  /** Lines that were no messages, answers nobody waits for, notifications over the budget. */
  void lost(int garbageLines, int droppedMessages);

  /** The connection is over; every pending request has failed already. */
  void closed(String reason);
}
