package dev.mcpbridge.server;

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
import java.util.concurrent.TimeUnit;

/**
 * The resources of a server whose changes somebody wants to hear of, counted, so that a server is
 * asked once for each however many listen, and nobody is promised what the server has not. Asked
 * again after a restart, until it agrees. A stateless server has one open {@code
 * subscriptions/listen} for each. Confined to its verticle's context.
 */
final class SubscribedResources {
  private static final long AGAIN_MILLIS = 5_000;

  private final Vertx vertx;
  private final long timeoutMillis;
  private final Map<String, SubscribedResource> watched = new HashMap<>();
  private final Map<Session, Map<String, Session.Subscription>> listening = new WeakHashMap<>();

  private final Map<SessionSubscription, Future<Boolean>> underWay = new HashMap<>();

  private record SessionSubscription(Session session, String uri) {}

  private static final class SubscribedResource {
    int listeners;
    Future<Boolean> agreed;
  }

  SubscribedResources(Vertx vertx, long timeoutMillis) {
    this.vertx = vertx;
    this.timeoutMillis = timeoutMillis;
  }

  /** Which of the bridge's own subscriptions a change came on is nobody else's business. */
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

  /** One more who listens; told when the servers have agreed, and as if never here if not. */
  Future<Boolean> add(String uri, List<Session> sessions) {
    SubscribedResource found = watched.computeIfAbsent(uri, u -> new SubscribedResource());
    found.listeners++;
    if (found.agreed == null) {
      found.agreed =
          Future.all(sessions.stream().map(session -> begin(session, uri)).toList()).map(true);
    }
    return found.agreed.onFailure(refused -> forget(uri, found));
  }

  /** One less; the last one's leaving is told to the servers. */
  Future<Boolean> remove(String uri, List<Session> sessions) {
    SubscribedResource found = watched.get(uri);
    if (found == null || --found.listeners > 0) {
      return Future.succeededFuture(true);
    }
    watched.remove(uri);
    return Future.join(sessions.stream().map(session -> end(session, uri)).toList()).map(true);
  }

  /** Everything that is watched, for a session that has just begun. */
  void resume(Session session) {
    watched.keySet().forEach(uri -> insist(session, uri));
  }

  private void forget(String uri, SubscribedResource refused) {
    if (--refused.listeners <= 0) {
      watched.remove(uri, refused);
    }
  }

  private void insist(Session session, String uri) {
    if (!session.isOver() && watched.containsKey(uri)) {
      begin(session, uri)
          .onFailure(refused -> vertx.setTimer(AGAIN_MILLIS, t -> insist(session, uri)));
    }
  }

  private Future<Boolean> begin(Session session, String uri) {
    if (!session.isStateless()) {
      return ask(session, McpMethod.SUBSCRIBE, uri);
    }
    Session.Subscription begun = session.listen(filter(uri));
    listening.computeIfAbsent(session, s -> new HashMap<>()).put(uri, begun);
    return begun
        .agreed()
        .timeout(timeoutMillis, TimeUnit.MILLISECONDS)
        .map(true)
        .onFailure(refused -> end(session, uri));
  }

  private Future<Boolean> end(Session session, String uri) {
    if (!session.isStateless()) {
      return ask(session, McpMethod.UNSUBSCRIBE, uri);
    }
    Session.Subscription begun = listening.getOrDefault(session, Map.of()).get(uri);
    if (begun != null) {
      listening.get(session).remove(uri);
      session.endListening(begun);
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

  /** One after the other for each resource: over HTTP the later of two could come first. */
  private Future<Boolean> ask(Session session, String method, String uri) {
    JsonSlice params = new JsonWriter().beginObject().member("uri", uri).endObject().toSlice();
    SessionSubscription sessionSubscription = new SessionSubscription(session, uri);
    Future<Boolean> before = underWay.get(sessionSubscription);
    Future<Boolean> answer =
        before == null
            ? request(session, method, params)
            : before.transform(over -> request(session, method, params));
    underWay.put(sessionSubscription, answer);
    return answer.onComplete(over -> underWay.remove(sessionSubscription, answer));
  }

  private Future<Boolean> request(Session session, String method, JsonSlice params) {
    return session.request(method, params, timeoutMillis).map(done -> true);
  }
}
