package dev.mcpbridge.http.mcp.stateless;

import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayList;
import java.util.List;

/**
 * A stream whose first message acknowledges the subscription (2026-07-28
 * basic/patterns/subscriptions). Earlier messages are buffered until then, at most 1000.
 */
final class AcknowledgedStream {
  private static final int MAX_BUFFERED = 1000;

  private final EventStream stream;
  private List<JsonSlice> buffered = new ArrayList<>();

  AcknowledgedStream(EventStream stream) {
    this.stream = stream;
  }

  boolean isAcknowledged() {
    return buffered == null;
  }

  void acknowledge(JsonSlice acknowledgement) {
    List<JsonSlice> pending = buffered;
    buffered = null;
    stream.send("message", acknowledgement);
    pending.forEach(this::send);
  }

  void send(JsonSlice message) {
    if (buffered == null) {
      stream.send("message", message);
    } else if (buffered.size() < MAX_BUFFERED) {
      buffered.add(message);
    }
  }

  /** Registers a handler for the end of the stream. */
  void onClose(Runnable handler) {
    stream.onClose(handler);
  }
}
