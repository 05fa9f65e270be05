package dev.mcpbridge.http.reply;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.limit.Shares;
import io.vertx.ext.web.RoutingContext;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** The open event streams, limited in total and per caller. Confined to the HTTP verticle. */
public final class StreamSlots {
  private final Shares shares;
  private final Map<EventStream, Principal> open = new LinkedHashMap<>();

  public StreamSlots(int max, BooleanSupplier severalCallers) {
    this.shares =
        new Shares(
            new Shares.Limit("event streams", "http.maxStreams", max, 5_000), severalCallers);
  }

  /** Replaces the limit, for streams that are opened from now on. */
  public void reload(int max) {
    shares.reload(max);
  }

  /**
   * @throws BridgeException RATE_LIMITED, OVERLOADED
   */
  public EventStream open(RoutingContext ctx) {
    String share = Callers.share(ctx);
    shares.acquire(share);
    EventStream stream = EventStream.open(ctx);
    open.put(stream, Callers.of(ctx));
    return stream.onClose(() -> closed(stream, share));
  }

  private void closed(EventStream stream, String share) {
    if (open.remove(stream) != null) {
      shares.release(share);
    }
  }

  public void endAll() {
    endOf(principal -> true);
  }

  /** Ends the streams of some principals, such as those whose key was removed. */
  public void endOf(Predicate<Principal> principals) {
    Map.copyOf(open)
        .forEach(
            (stream, principal) -> {
              if (principals.test(principal)) {
                stream.end();
              }
            });
  }
}
