package dev.mcpbridge.http.mcp;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.ResourceUpdate;
import dev.mcpbridge.bus.Addresses.Watch;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Who listens for the changes of which resource. Confined to the HTTP verticle. */
final class ResourceWatch {
  private final Bus bus;
  private final Map<Watched, Set<Consumer<JsonSlice>>> listeners = new HashMap<>();

  private record Watched(ServerId server, String uri) {}

  ResourceWatch(Bus bus) {
    this.bus = bus;
    bus.subscribe(Addresses.RESOURCE_UPDATED, this::updated);
  }

  /**
   * Listens, once the server has agreed.
   *
   * @param hear gets the params of each notification
   * @return what ends it
   */
  Future<Runnable> listen(ServerId server, String uri, Consumer<JsonSlice> hear) {
    Watched watched = new Watched(server, uri);
    return bus.request(Addresses.watch(server), new Watch(uri, true))
        .map(
            agreed -> {
              listeners.computeIfAbsent(watched, w -> new HashSet<>()).add(hear);
              return () -> end(watched, hear);
            });
  }

  private void end(Watched watched, Consumer<JsonSlice> hear) {
    Set<Consumer<JsonSlice>> known = listeners.get(watched);
    if (known != null && known.remove(hear)) {
      if (known.isEmpty()) {
        listeners.remove(watched);
      }
      bus.request(Addresses.watch(watched.server()), new Watch(watched.uri(), false));
    }
  }

  private void updated(ResourceUpdate update) {
    Set<Consumer<JsonSlice>> known = listeners.get(new Watched(update.server(), update.uri()));
    if (known != null) {
      List.copyOf(known).forEach(hear -> hear.accept(update.params()));
    }
  }
}
