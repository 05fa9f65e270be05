package dev.mcpbridge.server;

import dev.mcpbridge.limit.TimeLimit;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.session.Session;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Reference-counted subscriptions to resources of a server: the server receives one subscription
 * for each resource, however many listeners there are, and a listener is confirmed only after the
 * server has agreed. Subscriptions are renewed after a restart, and retried until the server
 * agrees. For a stateless server each is one open {@code subscriptions/listen}. Confined to its
 * verticle's context.
 */
final class SubscribedResources {
  private static final long RETRY_MILLIS = 5_000;

  private final Vertx vertx;
  private final long timeoutMillis;
  private final Map<String, SubscribedResource> watched = new HashMap<>();
  private final Map<Session, Map<String, Session.Subscription>> listening = new WeakHashMap<>();

  private final Map<SessionSubscription, Future<Boolean>> lastRequests = new HashMap<>();

  private record SessionSubscription(Session session, String uri) {}

  private static final class SubscribedResource {
    int listeners;
    Future<Boolean> agreed;
  }

  SubscribedResources(Vertx vertx, long timeoutMillis) {
    this.vertx = vertx;
    this.timeoutMillis = timeoutMillis;
  }

  /** Removes the id of the bridge's own subscription, which is internal, from a notification. */
  static JsonSlice withoutSubscription(JsonSlice params) {
    JsonSlice meta = JsonObjects.members(params).get("_meta");
    if (meta == null || !JsonObjects.members(meta).containsKey(MetaKeys.SUBSCRIPTION)) {
      return params.detached();
    }
    JsonSlice rest = JsonObjects.without(meta, MetaKeys.SUBSCRIPTION);
    return rest.length() == 2
        ? JsonObjects.without(params, "_meta")
        : JsonObjects.with(params, "_meta", rest);
  }

  boolean isEmpty() {
    return watched.isEmpty();
  }

  /**
   * Adds a listener. Completes when all sessions have agreed; a listener whose subscription fails
   * is removed again.
   */
  Future<Boolean> add(String uri, List<Session> sessions) {
    SubscribedResource found = watched.computeIfAbsent(uri, u -> new SubscribedResource());
    found.listeners++;
    if (found.agreed == null) {
      found.agreed =
          Future.all(sessions.stream().map(session -> begin(session, uri)).toList()).map(true);
    }
    return found.agreed.onFailure(refused -> removeRefused(uri, found));
  }

  /** Removes a listener. The servers are unsubscribed with the last one. */
  Future<Boolean> remove(String uri, List<Session> sessions) {
    SubscribedResource found = watched.get(uri);
    if (found == null || --found.listeners > 0) {
      return Future.succeededFuture(true);
    }
    watched.remove(uri);
    return Future.join(sessions.stream().map(session -> end(session, uri)).toList()).map(true);
  }

  /** Renews all subscriptions for a new session. */
  void resume(Session session) {
    watched.keySet().forEach(uri -> beginWithRetry(session, uri));
  }

  private void removeRefused(String uri, SubscribedResource refused) {
    if (--refused.listeners <= 0) {
      watched.remove(uri, refused);
    }
  }

  private void beginWithRetry(Session session, String uri) {
    if (!session.isClosed() && watched.containsKey(uri)) {
      begin(session, uri)
          .onFailure(refused -> vertx.setTimer(RETRY_MILLIS, t -> beginWithRetry(session, uri)));
    }
  }

  private Future<Boolean> begin(Session session, String uri) {
    if (!session.isStateless()) {
      return requestInOrder(session, McpMethod.SUBSCRIBE, uri);
    }
    Session.Subscription begun = session.subscribe(filter(uri));
    listening.computeIfAbsent(session, s -> new HashMap<>()).put(uri, begun);
    return TimeLimit.of(timeoutMillis, begun.acknowledged())
        .map(true)
        .onFailure(refused -> end(session, uri));
  }

  private Future<Boolean> end(Session session, String uri) {
    if (!session.isStateless()) {
      return requestInOrder(session, McpMethod.UNSUBSCRIBE, uri);
    }
    Session.Subscription begun = listening.getOrDefault(session, Map.of()).get(uri);
    if (begun != null) {
      listening.get(session).remove(uri);
      session.unsubscribe(begun);
    }
    return Future.succeededFuture(true);
  }

  private static JsonSlice filter(String uri) {
    return new JsonWriter()
        .beginObject()
        .name("notifications")
        .beginObject()
        .name("resourceSubscriptions")
        .beginArray()
        .value(uri)
        .endArray()
        .endObject()
        .endObject()
        .toSlice();
  }

  /** Sends requests for one resource in order: over HTTP the later of two could arrive first. */
  private Future<Boolean> requestInOrder(Session session, String method, String uri) {
    JsonSlice params = new JsonWriter().beginObject().member("uri", uri).endObject().toSlice();
    SessionSubscription sessionSubscription = new SessionSubscription(session, uri);
    Future<Boolean> previous = lastRequests.get(sessionSubscription);
    Future<Boolean> answer =
        previous == null
            ? request(session, method, params)
            : previous.transform(over -> request(session, method, params));
    lastRequests.put(sessionSubscription, answer);
    return answer.onComplete(over -> lastRequests.remove(sessionSubscription, answer));
  }

  private Future<Boolean> request(Session session, String method, JsonSlice params) {
    return session.request(method, params, timeoutMillis).map(done -> true);
  }
}
