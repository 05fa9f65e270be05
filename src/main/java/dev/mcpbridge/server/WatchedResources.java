package dev.mcpbridge.server;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.session.Session;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * The resources of a server whose changes somebody wants to hear of, counted, so that a server is
 * asked once for each however many listen; asked again after a restart. A stateless server has one
 * open {@code subscriptions/listen} for each.
 */
final class WatchedResources {
  private final long timeoutMillis;
  private final Map<String, Integer> watchers = new HashMap<>();
  private final Map<Session, Map<String, Long>> listening = new WeakHashMap<>();

  WatchedResources(long timeoutMillis) {
    this.timeoutMillis = timeoutMillis;
  }

  /** Whether this is the first who listens. */
  boolean add(String uri) {
    return watchers.merge(uri, 1, Integer::sum) == 1;
  }

  /** Whether this was the last who listened. */
  boolean remove(String uri) {
    return watchers.containsKey(uri)
        && watchers.computeIfPresent(uri, (u, n) -> n == 1 ? null : n - 1) == null;
  }

  boolean isEmpty() {
    return watchers.isEmpty();
  }

  /** Everything that is watched, for a session that has just begun. */
  void resume(Session session) {
    watchers.keySet().forEach(uri -> begin(session, uri));
  }

  Future<Boolean> begin(Session session, String uri) {
    if (!session.isStateless()) {
      return ask(session, McpMethod.SUBSCRIBE, uri);
    }
    JsonSlice filter =
        new JsonWriter()
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
    long id = session.listen(McpMethod.LISTEN, filter);
    listening.computeIfAbsent(session, s -> new HashMap<>()).put(uri, id);
    return Future.succeededFuture(true);
  }

  Future<Boolean> end(Session session, String uri) {
    if (!session.isStateless()) {
      return ask(session, McpMethod.UNSUBSCRIBE, uri);
    }
    Long id = listening.getOrDefault(session, Map.of()).get(uri);
    if (id != null) {
      listening.get(session).remove(uri);
      session.notify(
          McpMethod.CANCELLED,
          new JsonWriter().beginObject().member("requestId", id).endObject().toSlice());
    }
    return Future.succeededFuture(true);
  }

  private Future<Boolean> ask(Session session, String method, String uri) {
    JsonSlice params = new JsonWriter().beginObject().member("uri", uri).endObject().toSlice();
    return session.request(method, params, timeoutMillis).map(done -> true);
  }
}
