package dev.mcpbridge.transport;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.protocol.RpcMessage;
import java.util.List;

/** What a transport hears; called on the context that opened it, in order. */
public interface TransportListener {

  /** Messages in the order in which they came; a batch is what one read brought. */
  void messages(List<RpcMessage> batch);

  /**
   * A message was longer than the limit and is lost; the stream goes on behind it.
   *
   * @param requestId the request it answered, as far as its ends tell; −1 if they don't
   */
  void oversized(long requestId, long bytes);

  /** A line is no message, though it is meant to answer this request. */
  void unreadable(long requestId);

  /** A request will not be answered; the failure says what is known of its effect. */
  void lost(long requestId, BridgeException failure);

  /**
   * This machine works on the answer to a request, or has done so. That does not count against the
   * request's time.
   */
  default void works(long requestId, boolean isAtWork) {
    // of interest only where there are deadlines
  }

  /** Lines came that are no messages. They cost nothing but themselves. */
  void garbage(int lines);

  /** Notifications were dropped, since they came faster than anybody could use them. */
  void dropped(int notifications);

  /**
   * The connection is over; nothing follows. Also called after {@link Transport#close}.
   *
   * @param reason a sentence, for everybody: nothing in it comes from the process
   */
  void closed(String reason);
}
