package dev.mcpbridge.http.mcp;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.ResourceUpdate;
import dev.mcpbridge.bus.Addresses.Watch;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Who listens for the changes of which resource. A server that was taken away and comes back, as a
 * changed entry of the configuration does, is asked again. Confined to the HTTP verticle.
 */
final class ResourceWatch {
  private final Bus bus;
  private final Map<Watched, Set<Listening>> listeners = new HashMap<>();
  private final Set<ServerId> away = new HashSet<>();

  private record Watched(ServerId server, String conversation, String uri) {}

  private static final class Listening {
    final Caller caller;
    final Consumer<JsonSlice> hear;
    Watched at;
    boolean ended;

    Listening(Caller caller, Consumer<JsonSlice> hear) {
      this.caller = caller;
      this.hear = hear;
    }
  }

  ResourceWatch(Bus bus) {
    this.bus = bus;
    bus.subscribe(Addresses.RESOURCE_UPDATED, this::updated);
    bus.subscribe(Addresses.SERVER_GONE, away::add);
    bus.subscribe(Addresses.SERVER_CHANGED, this::askAgain);
  }

  /**
   * Listens, once the server has agreed.
   *
   * @param hear gets the params of each notification
   * @return what ends it
   */
  Future<Runnable> listen(ServerId server, String uri, Caller caller, Consumer<JsonSlice> hear) {
    Listening listening = new Listening(caller, hear);
    return begin(listening, server, uri).map(begun -> () -> end(listening));
  }

  private Future<Void> begin(Listening listening, ServerId server, String uri) {
    return bus.request(Addresses.watch(server), new Watch(uri, true, listening.caller))
        .map(
            conversation -> {
              listening.at = new Watched(server, conversation, uri);
              if (listening.ended) {
                tellEnd(listening);
              } else {
                listeners.computeIfAbsent(listening.at, at -> new LinkedHashSet<>()).add(listening);
              }
              return null;
            });
  }

  private void end(Listening listening) {
    listening.ended = true;
    Set<Listening> known = listeners.get(listening.at);
    if (known != null && known.remove(listening)) {
      if (known.isEmpty()) {
        listeners.remove(listening.at);
      }
      tellEnd(listening);
    }
  }

  private void tellEnd(Listening listening) {
    bus.request(
        Addresses.watch(listening.at.server()),
        new Watch(listening.at.uri(), false, listening.caller));
  }

  private void askAgain(ServerView server) {
    if (!server.isDiscovered() || !away.remove(server.id())) {
      return;
    }
    List<Watched> lost =
        listeners.keySet().stream().filter(at -> at.server().equals(server.id())).toList();
    lost.forEach(at -> listeners.remove(at).forEach(each -> askAgain(each, at)));
  }

  /** One that the server refuses now is kept for when it comes back another time. */
  private void askAgain(Listening listening, Watched at) {
    begin(listening, at.server(), at.uri())
        .onFailure(
            refused -> {
              if (!listening.ended) {
                listeners.computeIfAbsent(at, a -> new LinkedHashSet<>()).add(listening);
                away.add(at.server());
              }
            });
  }

  private void updated(ResourceUpdate update) {
    Watched at = new Watched(update.server(), update.conversation(), update.uri());
    List.copyOf(listeners.getOrDefault(at, Set.of()))
        .forEach(listening -> listening.hear.accept(update.params()));
  }
}
