package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.bus.Address;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.bus.Addresses.ResourceSubscription;
import dev.mcpbridge.bus.Addresses.ResourceUpdate;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.Directory;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.profile.Profile;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The subscribers of each resource. Every instance of a server gets each subscription; it is sent
 * again to an instance that was replaced, as after a changed configuration entry or a move to
 * another node. Confined to the HTTP verticle.
 */
public final class ResourceSubscribers {
  private final Bus bus;
  private final Directory directory;
  private final AccessControl access;
  private final CatalogueCache catalogues;
  private final Map<SubscribedResource, Set<Subscriber>> listeners = new HashMap<>();

  private record SubscribedResource(ServerId server, String conversation, String uri) {}

  private static final class Subscriber {
    final ServerId server;
    final String uri;
    final Caller caller;

    /** The name of the profile of its endpoint; null without one. */
    final String profile;

    final Consumer<JsonSlice> listener;

    /** Requested instances, and whether they have agreed. */
    final Map<InstanceLocation, Boolean> agreements = new HashMap<>();

    SubscribedResource resource;
    boolean begun;
    boolean ended;

    Subscriber(
        ToolCatalogue.Resource resource,
        Caller caller,
        String profile,
        Consumer<JsonSlice> listener) {
      this.server = resource.server();
      this.uri = resource.uri();
      this.caller = caller;
      this.profile = profile;
      this.listener = listener;
    }

    ResourceSubscription request(boolean subscribe) {
      return new ResourceSubscription(uri, subscribe, caller);
    }
  }

  public ResourceSubscribers(
      Bus bus, Directory directory, AccessControl access, CatalogueCache catalogues) {
    this.bus = bus;
    this.catalogues = catalogues;
    this.directory = directory;
    this.access = access;
    access.onReload((before, after) -> endRefused());
    catalogues.onReload((before, after) -> endRefused());
    bus.subscribe(Addresses.RESOURCE_UPDATED, this::updated);
    bus.subscribe(Addresses.INSTANCE_STOPPED, this::instanceStopped);
    bus.subscribe(Addresses.SERVER_CHANGED, this::resubscribe);
  }

  /**
   * Subscribes; succeeds when the server has agreed. Fails with FORBIDDEN if the access rules do
   * not allow it. A subscription ends without a word when they or the profile do not allow it after
   * a change.
   *
   * @param toolCatalogue what the endpoint offers
   * @param shown the client's URI of the resource
   * @param listener receives the params of each notification, with that URI
   * @return ends the subscription; fails with INVALID_PARAMS if the endpoint does not offer the
   *     resource
   */
  public Future<Runnable> listen(
      ToolCatalogue toolCatalogue, String shown, Caller caller, Consumer<JsonSlice> listener) {
    Optional<ToolCatalogue.Resource> resource = toolCatalogue.resource(shown);
    if (resource.isEmpty()) {
      BridgeException unknown = McpRequest.unknownResource(shown);
      record(caller, null, shown, refusal(unknown));
      return Future.failedFuture(unknown);
    }
    ServerId server = resource.get().server();
    String uri = resource.get().uri();
    return listen(resource.get(), toolCatalogue, shown, caller, listener)
        .onSuccess(begun -> record(caller, server, uri, to -> to.with("decision", "allow")))
        .onFailure(refused -> record(caller, server, uri, refusal(refused)));
  }

  private static UnaryOperator<AuditRecord> refusal(Throwable failure) {
    return to ->
        to.with("decision", "refuse").with("code", BridgeException.of(failure).code().slug());
  }

  private void record(Caller caller, ServerId server, String uri, UnaryOperator<AuditRecord> end) {
    bus.offer(
        Addresses.AUDIT,
        () ->
            end.apply(
                new AuditRecord("subscription")
                    .with("principal", caller.name())
                    .with("address", caller.address())
                    .with("door", caller.door())
                    .with("server", server == null ? null : server.name())
                    .with("kind", "resource")
                    .with("name", uri)));
  }

  private Future<Runnable> listen(
      ToolCatalogue.Resource resource,
      ToolCatalogue toolCatalogue,
      String shown,
      Caller caller,
      Consumer<JsonSlice> listener) {
    if (!access.maySubscribe(caller.principal(), resource.server(), resource.uri())) {
      return Future.failedFuture(
          new BridgeException(
              ErrorCode.FORBIDDEN, "No access rule allows this caller to subscribe this resource"));
    }
    Consumer<JsonSlice> withShownUri =
        shown.equals(resource.uri())
            ? listener
            : params -> listener.accept(JsonObjects.with(params, "uri", JsonObjects.quoted(shown)));
    String profile = toolCatalogue.profile().map(Profile::name).orElse(null);
    Subscriber subscriber = new Subscriber(resource, caller, profile, withShownUri);
    return directory
        .find(resource.server())
        .compose(
            view ->
                Future.all(
                    view.locations().stream()
                        .map(location -> subscribe(subscriber, location))
                        .toList()))
        .<Runnable>map(
            begun -> {
              subscriber.begun = true;
              return () -> end(subscriber);
            })
        .onFailure(refused -> end(subscriber));
  }

  private Future<Void> subscribe(Subscriber subscriber, InstanceLocation location) {
    subscriber.agreements.put(location, false);
    return bus.request(address(subscriber, location), subscriber.request(true))
        .<Void>map(
            conversation -> {
              if (subscriber.ended || !isAllowed(subscriber)) {
                unsubscribe(subscriber, location);
              } else {
                subscriber.agreements.replace(location, true);
                subscriber.resource =
                    new SubscribedResource(subscriber.server, conversation, subscriber.uri);
                listeners
                    .computeIfAbsent(subscriber.resource, w -> new LinkedHashSet<>())
                    .add(subscriber);
              }
              return null;
            })
        .onFailure(refused -> subscriber.agreements.remove(location));
  }

  private void end(Subscriber subscriber) {
    if (subscriber.begun && !subscriber.ended) {
      record(
          subscriber.caller, subscriber.server, subscriber.uri, to -> to.with("outcome", "ended"));
    }
    subscriber.ended = true;
    Set<Subscriber> subscribers = listeners.getOrDefault(subscriber.resource, Set.of());
    if (subscribers.contains(subscriber)) {
      subscribers.remove(subscriber);
      if (subscribers.isEmpty()) {
        listeners.remove(subscriber.resource);
      }
      subscriber.agreements.forEach(
          (location, agreed) -> {
            if (agreed) {
              unsubscribe(subscriber, location);
            }
          });
    }
  }

  private void endRefused() {
    listeners.values().stream()
        .flatMap(Set::stream)
        .filter(each -> !isAllowed(each))
        .toList()
        .forEach(this::end);
  }

  private boolean isAllowed(Subscriber subscriber) {
    return isOffered(subscriber)
        && access.maySubscribe(subscriber.caller.principal(), subscriber.server, subscriber.uri);
  }

  private boolean isOffered(Subscriber subscriber) {
    return subscriber.profile == null
        || catalogues
            .profiles()
            .find(subscriber.profile)
            .filter(it -> it.offersResource(subscriber.server, subscriber.uri))
            .isPresent();
  }

  private void unsubscribe(Subscriber subscriber, InstanceLocation location) {
    bus.request(address(subscriber, location), subscriber.request(false));
  }

  private void instanceStopped(InstanceStopped instanceStopped) {
    subscribersOf(instanceStopped.server())
        .forEach(subscriber -> subscriber.agreements.remove(instanceStopped.from()));
  }

  /** Subscribes at new instances; a refused subscription is tried again at the next change. */
  private void resubscribe(ServerView server) {
    if (!server.isDiscovered()) {
      return;
    }
    for (Subscriber subscriber : subscribersOf(server.id())) {
      subscriber.agreements.keySet().retainAll(server.locations());
      server.locations().stream()
          .filter(location -> !subscriber.agreements.containsKey(location))
          .forEach(location -> subscribe(subscriber, location));
    }
  }

  private List<Subscriber> subscribersOf(ServerId server) {
    return listeners.values().stream()
        .flatMap(Set::stream)
        .filter(subscriber -> subscriber.server.equals(server))
        .toList();
  }

  private void updated(ResourceUpdate update) {
    SubscribedResource resource =
        new SubscribedResource(update.server(), update.conversation(), update.uri());
    List.copyOf(listeners.getOrDefault(resource, Set.of()))
        .forEach(subscriber -> subscriber.listener.accept(update.params()));
  }

  private static Address<ResourceSubscription, String> address(
      Subscriber subscriber, InstanceLocation location) {
    return Addresses.watch(new InstanceId(subscriber.server, location.instance()));
  }
}
