package dev.mcpbridge.http.rest;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.auth.Scope;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.BridgeEvent;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.StreamSlots;
import io.vertx.ext.web.RoutingContext;

/**
 * GET /events: server states, catalogue changes, and the confirmations that concern the listener.
 */
public final class EventsApi {
  private final Bus bus;
  private final StreamSlots streams;

  public EventsApi(Bus bus, StreamSlots streams) {
    this.bus = bus;
    this.streams = streams;
  }

  public void listen(RoutingContext ctx) {
    Principal listener = Callers.of(ctx);
    EventStream stream = streams.open(ctx);
    Runnable deaf =
        bus.subscribe(
            Addresses.EVENTS,
            event -> {
              if (concerns(listener, event)) {
                stream.send(event.name(), event.data());
              }
            });
    stream.onClose(deaf);
  }

  private static boolean concerns(Principal listener, BridgeEvent event) {
    return event.audience() == null
        || event.audience().equals(listener.name())
        || listener.may(Scope.APPROVE);
  }
}
