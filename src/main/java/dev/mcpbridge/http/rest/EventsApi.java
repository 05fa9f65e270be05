package dev.mcpbridge.http.rest;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.model.BridgeEvent;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import io.vertx.ext.web.RoutingContext;

/**
 * GET /events: the states and catalogues of the servers, and the confirmations, that the caller may
 * see.
 */
public record EventsApi(Bus bus, AccessControl access, StreamSlots streams) {
  public void listen(RoutingContext ctx) {
    Principal listener = Callers.of(ctx);
    EventStream stream = streams.listen(ctx, Compressed.LISTS);
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

  private boolean mayReceive(Principal listener, BridgeEvent event) {
    if (event.audience() != null) {
      return event.audience().equals(listener.name()) || listener.may(Scope.APPROVE);
    }
    return event.tool() == null
        ? access.sees(listener, event.server())
        : access.lists(listener, event.server(), event.tool());
  }
}
