package dev.mcpbridge.http.mcp;

import dev.mcpbridge.bus.Address;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.Departure;
import dev.mcpbridge.bus.Addresses.ResourceUpdate;
import dev.mcpbridge.bus.Addresses.Watch;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.Directory;
import dev.mcpbridge.call.Offer;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Part;
import dev.mcpbridge.model.Residence;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Who listens for the changes of which resource. Each part of its server is asked for them; one
 * that was taken away and comes back, as with a changed entry of the configuration or on another
 * node, is asked again. Confined to the HTTP verticle.
 */
final class ResourceWatch {
  private final Bus bus;
  private final Directory directory;
  private final Map<Watched, Set<Listening>> listeners = new HashMap<>();

  private record Watched(ServerId server, String conversation, String uri) {}

  private static final class Listening {
    final ServerId server;
    final String uri;
    final Caller caller;
    final Consumer<JsonSlice> hear;

    /** And whether they have agreed. */
    final Map<Residence, Boolean> asked = new HashMap<>();

    Watched at;
    boolean ended;

    Listening(ServerId server, String uri, Caller caller, Consumer<JsonSlice> hear) {
      this.server = server;
      this.uri = uri;
      this.caller = caller;
      this.hear = hear;
    }

    Watch watch(boolean wanted) {
      return new Watch(uri, wanted, caller);
    }
  }

  ResourceWatch(Bus bus, Directory directory) {
    this.bus = bus;
    this.directory = directory;
    bus.subscribe(Addresses.RESOURCE_UPDATED, this::updated);
    bus.subscribe(Addresses.PART_GONE, this::gone);
    bus.subscribe(Addresses.SERVER_CHANGED, this::askAgain);
  }

  /**
   * Listens, once the server has agreed.
   *
   * @param shown the client's URI for it
   * @param hear gets the params of each notification, with that URI
   * @return what ends it
   */
  Future<Runnable> listen(
      Offer.Resource resource, String shown, Caller caller, Consumer<JsonSlice> hear) {
    Consumer<JsonSlice> renamed =
        shown.equals(resource.uri())
            ? hear
            : params -> hear.accept(JsonObjects.with(params, "uri", JsonObjects.quoted(shown)));
    Listening listening = new Listening(resource.server(), resource.uri(), caller, renamed);
    return directory
        .find(resource.server())
        .compose(
            view -> Future.all(view.residences().stream().map(at -> begin(listening, at)).toList()))
        .<Runnable>map(begun -> () -> end(listening))
        .onFailure(refused -> end(listening));
  }

  private Future<Void> begin(Listening listening, Residence at) {
    listening.asked.put(at, false);
    return bus.request(address(listening, at), listening.watch(true))
        .<Void>map(
            conversation -> {
              if (listening.ended) {
                tellEnd(listening, at);
              } else {
                listening.asked.replace(at, true);
                listening.at = new Watched(listening.server, conversation, listening.uri);
                listeners.computeIfAbsent(listening.at, w -> new LinkedHashSet<>()).add(listening);
              }
              return null;
            })
        .onFailure(refused -> listening.asked.remove(at));
  }

  private void end(Listening listening) {
    listening.ended = true;
    Set<Listening> known = listeners.getOrDefault(listening.at, Set.of());
    if (known.contains(listening)) {
      known.remove(listening);
      if (known.isEmpty()) {
        listeners.remove(listening.at);
      }
      listening.asked.forEach(
          (at, agreed) -> {
            if (agreed) {
              tellEnd(listening, at);
            }
          });
    }
  }

  private void tellEnd(Listening listening, Residence at) {
    bus.request(address(listening, at), listening.watch(false));
  }

  private void gone(Departure departure) {
    of(departure.server()).forEach(listening -> listening.asked.remove(departure.from()));
  }

  /** One that the server refuses now is kept for when something of it changes. */
  private void askAgain(ServerView server) {
    if (!server.isDiscovered()) {
      return;
    }
    for (Listening listening : of(server.id())) {
      listening.asked.keySet().retainAll(server.residences());
      server.residences().stream()
          .filter(at -> !listening.asked.containsKey(at))
          .forEach(at -> begin(listening, at));
    }
  }

  private List<Listening> of(ServerId server) {
    return listeners.values().stream()
        .flatMap(Set::stream)
        .filter(listening -> listening.server.equals(server))
        .toList();
  }

  private void updated(ResourceUpdate update) {
    Watched at = new Watched(update.server(), update.conversation(), update.uri());
    List.copyOf(listeners.getOrDefault(at, Set.of()))
        .forEach(listening -> listening.hear.accept(update.params()));
  }

  private static Address<Watch, String> address(Listening of, Residence at) {
    return Addresses.watch(new Part(of.server, at.instance()));
  }
}
