package dev.mcpbridge.session;

import dev.mcpbridge.protocol.RpcMessage;

/** What an upstream says unasked; called on the session's context. */
public interface SessionListener {

  /** A notification that belongs to no request of ours. */
  void notified(RpcMessage notification);

  /** Lines that were no messages, answers nobody waits for, notifications over the budget. */
  void lost(int garbageLines, int droppedMessages);

  /** The connection is over; every pending request has failed already. */
  void closed(String reason);
}
