package dev.mcpbridge.transport;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.protocol.RpcMessage;
import java.util.List;

/** Receives the events of a transport, in order, on the context that opened it. */
public interface TransportListener {

  /** Messages in the order of their arrival; a batch is the result of one read. */
  void messages(List<RpcMessage> batch);

  /**
   * A message was longer than the limit and was discarded; the stream continues after it.
   *
   * @param requestId the request it responds to, extracted from its first and last bytes; −1 if
   *     unknown
   * @param bytes length of the message
   */
  void oversized(long requestId, long bytes);

  /** A line is not a valid message, but seems to be the response to this request. */
  void unreadable(long requestId);

  /** A request gets no response; the failure states whether it may have been executed. */
  void lost(long requestId, BridgeException failure);

  /**
   * The bridge itself starts or stops working on the response to a request. That time does not
   * count against the request's timeout.
   */
  default void onBridgeWork(long requestId, boolean isAtWork) {
    // only relevant to listeners with deadlines
  }

  /** Lines that are not messages were skipped. */
  void garbage(int lines);

  /** Notifications over the rate limit were dropped. */
  void dropped(int notifications);

  /**
   * The connection has ended; no further event follows. Also called after {@link Transport#close}.
   *
   * @param reason a public description; contains no output of the process
   */
  void closed(String reason);
}
