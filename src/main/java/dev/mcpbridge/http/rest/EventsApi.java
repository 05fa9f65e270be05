package dev.mcpbridge.http.rest;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.BridgeEvent;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import io.vertx.ext.web.RoutingContext;

/** GET /events: server states, catalogue changes, and the confirmations that the caller may see. */
public record EventsApi(Bus bus, StreamSlots streams) {
  public void listen(RoutingContext ctx) {
    Principal listener = Callers.of(ctx);
    EventStream stream = streams.listen(ctx);
    Runnable unsubscribe =
        bus.subscribe(
            Addresses.EVENTS,
            event -> {
              if (mayReceive(listener, event)) {
                stream.send(event.name(), event.data());
              }
            });
    stream.onClose(unsubscribe);
  }

  private static boolean mayReceive(Principal listener, BridgeEvent event) {
    return event.audience() == null
        || event.audience().equals(listener.name())
        || listener.may(Scope.APPROVE);
  }
}
