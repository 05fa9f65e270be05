package dev.mcpbridge.http.mcp;

import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayList;
import java.util.List;

/**
 * A stream whose first message says what the others will be (2026-07-28
 * basic/patterns/subscriptions): what is to be told earlier waits for it, within a bound.
 */
final class AcknowledgedStream {
  private static final int MAX_EARLY = 1000;

  private final EventStream stream;
  private List<JsonSlice> early = new ArrayList<>();

  AcknowledgedStream(EventStream stream) {
    this.stream = stream;
  }

  boolean isBegun() {
    return early == null;
  }

  void begin(JsonSlice first) {
    List<JsonSlice> waited = early;
    early = null;
    stream.send("message", first);
    waited.forEach(this::tell);
  }

  void tell(JsonSlice message) {
    if (early == null) {
      stream.send("message", message);
    } else if (early.size() < MAX_EARLY) {
      early.add(message);
    }
  }

  /** Runs when nobody hears it any more. */
  void onClose(Runnable handler) {
    stream.onClose(handler);
  }
}
