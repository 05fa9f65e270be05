package dev.mcpbridge.http.reply;

import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.model.Principal;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The open event streams, limited in total and per caller. Confined to the HTTP verticle. */
public final class StreamSlots {
  private static final long SESSION_CHECK_MILLIS = 5_000;

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
   * Opens a stream that tells its client of events, which ends when the client's token expires, or
   * soon after the end of its session.
   *
   * @param content what its events are
   * @throws BridgeException RATE_LIMITED, OVERLOADED
   */
  public EventStream listen(RoutingContext ctx, Compressed content) {
    EventStream stream = open(ctx, content);
    Principal.Token token = Callers.of(ctx).token();
    if (token != null && token.expiresMillis() != Long.MAX_VALUE) {
      long left = Math.max(1, token.expiresMillis() - System.currentTimeMillis());
      long timer = ctx.vertx().setTimer(left, t -> stream.end());
      stream.onClose(() -> ctx.vertx().cancelTimer(timer));
    }
    Callers.session(ctx).ifPresent(isOpen -> endWithSession(ctx, stream, isOpen));
    return stream;
  }

  private static void endWithSession(
      RoutingContext ctx, EventStream stream, Supplier<Future<Boolean>> isOpen) {
    long timer =
        ctx.vertx()
            .setPeriodic(
                SESSION_CHECK_MILLIS,
                t ->
                    isOpen
                        .get()
                        .onSuccess(
                            open -> {
                              if (!open) {
                                stream.end();
                              }
                            }));
    stream.onClose(() -> ctx.vertx().cancelTimer(timer));
  }

  /**
   * Opens the stream of a response, which ends with it.
   *
   * @param content what its events are
   * @throws BridgeException RATE_LIMITED, OVERLOADED
   */
  public EventStream open(RoutingContext ctx, Compressed content) {
    String share = Callers.share(ctx);
    shares.acquire(share);
    EventStream stream = EventStream.open(ctx, content);
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
