package dev.mcpbridge.http.reply;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.ext.web.RoutingContext;
import java.util.HashSet;
import java.util.Set;

/** Counts the open event streams and refuses one too many. Confined to the HTTP verticle. */
public final class StreamSlots {
  private final int max;
  private final Set<EventStream> open = new HashSet<>();

  public StreamSlots(int max) {
    this.max = max;
  }

  /**
   * @throws BridgeException OVERLOADED
   */
  public EventStream open(RoutingContext ctx) {
    if (open.size() >= max) {
      throw new BridgeException(ErrorCode.OVERLOADED, "Too many event streams are open")
          .withRetryAfter(5_000);
    }
    EventStream stream = EventStream.open(ctx);
    open.add(stream);
    return stream.onClose(() -> open.remove(stream));
  }

  public void endAll() {
    Set.copyOf(open).forEach(EventStream::end);
  }
}
