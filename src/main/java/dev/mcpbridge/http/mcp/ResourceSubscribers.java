package dev.mcpbridge.http.mcp;

import dev.mcpbridge.bus.Address;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.bus.Addresses.ResourceSubscription;
import dev.mcpbridge.bus.Addresses.ResourceUpdate;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.Directory;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
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
final class ResourceSubscribers {
  private final Bus bus;
  private final Directory directory;
  private final Map<SubscribedResource, Set<Subscriber>> listeners = new HashMap<>();

  private record SubscribedResource(ServerId server, String conversation, String uri) {}

  private static final class Subscriber {
    final ServerId server;
    final String uri;
    final Caller caller;
    final Consumer<JsonSlice> hear;

    /** And whether they have agreed. */
    final Map<InstanceLocation, Boolean> asked = new HashMap<>();

    SubscribedResource at;
    boolean ended;

    Subscriber(ServerId server, String uri, Caller caller, Consumer<JsonSlice> hear) {
      this.server = server;
      this.uri = uri;
      this.caller = caller;
      this.hear = hear;
    }

    ResourceSubscription watch(boolean wanted) {
      return new ResourceSubscription(uri, wanted, caller);
    }
  }

  ResourceSubscribers(Bus bus, Directory directory) {
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
      ToolCatalogue.Resource resource, String shown, Caller caller, Consumer<JsonSlice> hear) {
    Consumer<JsonSlice> renamed =
        shown.equals(resource.uri())
            ? hear
            : params -> hear.accept(JsonObjects.with(params, "uri", JsonObjects.quoted(shown)));
    Subscriber subscriber = new Subscriber(resource.server(), resource.uri(), caller, renamed);
    return directory
        .find(resource.server())
        .compose(
            view ->
                Future.all(view.residences().stream().map(at -> begin(subscriber, at)).toList()))
        .<Runnable>map(begun -> () -> end(subscriber))
        .onFailure(refused -> end(subscriber));
  }

  private Future<Void> begin(Subscriber subscriber, InstanceLocation at) {
    subscriber.asked.put(at, false);
    return bus.request(address(subscriber, at), subscriber.watch(true))
        .<Void>map(
            conversation -> {
              if (subscriber.ended) {
                tellEnd(subscriber, at);
              } else {
                subscriber.asked.replace(at, true);
                subscriber.at =
                    new SubscribedResource(subscriber.server, conversation, subscriber.uri);
                listeners
                    .computeIfAbsent(subscriber.at, w -> new LinkedHashSet<>())
                    .add(subscriber);
              }
              return null;
            })
        .onFailure(refused -> subscriber.asked.remove(at));
  }

  private void end(Subscriber subscriber) {
    subscriber.ended = true;
    Set<Subscriber> known = listeners.getOrDefault(subscriber.at, Set.of());
    if (known.contains(subscriber)) {
      known.remove(subscriber);
      if (known.isEmpty()) {
        listeners.remove(subscriber.at);
      }
      subscriber.asked.forEach(
          (at, agreed) -> {
            if (agreed) {
              tellEnd(subscriber, at);
            }
          });
    }
  }

  private void tellEnd(Subscriber subscriber, InstanceLocation at) {
    bus.request(address(subscriber, at), subscriber.watch(false));
  }

  private void gone(InstanceStopped instanceStopped) {
    of(instanceStopped.server())
        .forEach(subscriber -> subscriber.asked.remove(instanceStopped.from()));
  }

  /** One that the server refuses now is kept for when something of it changes. */
  private void askAgain(ServerView server) {
    if (!server.isDiscovered()) {
      return;
    }
    for (Subscriber subscriber : of(server.id())) {
      subscriber.asked.keySet().retainAll(server.residences());
      server.residences().stream()
          .filter(at -> !subscriber.asked.containsKey(at))
          .forEach(at -> begin(subscriber, at));
    }
  }

  private List<Subscriber> of(ServerId server) {
    return listeners.values().stream()
        .flatMap(Set::stream)
        .filter(subscriber -> subscriber.server.equals(server))
        .toList();
  }

  private void updated(ResourceUpdate update) {
    SubscribedResource at =
        new SubscribedResource(update.server(), update.conversation(), update.uri());
    List.copyOf(listeners.getOrDefault(at, Set.of()))
        .forEach(subscriber -> subscriber.hear.accept(update.params()));
  }

  private static Address<ResourceSubscription, String> address(Subscriber of, InstanceLocation at) {
    return Addresses.watch(new InstanceId(of.server, at.instance()));
  }
}
